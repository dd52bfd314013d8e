package launch_test

import (
	"fmt"
	"os"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// exampleFile reads one of the module's examples, as a program reads the objects of its cluster.
func exampleFile(name string) []byte {
	data, err := os.ReadFile("../examples/launch/" + name)
	if err != nil {
		panic(err)
	}
	return data
}

// exampleInput is what a program knows of its cluster and its class.
func exampleInput() *azure.Input {
	var in azure.Input
	in.Settings, _ = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: exampleFile("settings.yaml")})
	in.Class, _ = azure.ReadNodeClass(exampleFile("nodeclass.yaml"))
	in.Detected, _ = azure.ReadDetected(exampleFile("detected.yaml"))
	in.Images, _ = azure.ReadImages(exampleFile("images.yaml"))
	in.Type, _ = azure.ReadInstanceType(exampleFile("skus.json"), "Standard_D4ds_v5", "eastus")
	return &in
}

// A claim becomes a launch, with user data and a record. Later the record is compared with what is wanted then.
func Example() {
	claim, in := new(launch.NodeClaim), exampleInput()
	launch.Read(exampleFile("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	made := launch.Render(in, launch.Request{Claim: claim})
	userData, err := made.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
	if err != nil {
		fmt.Println(err) // no machine is started
		return
	}
	machine := made.Document().Machine
	fmt.Println(machine.Image.Definition, machine.Disk.Placement, len(userData) > 1000)
	for _, v := range made.Explain("machine.disk.sizeGB") {
		fmt.Printf("%s GB, of %s; not %s of %s\n", v.Value, v.Where(), v.Overrode[0].Value, v.Overrode[0].Where())
	}
	annotation := made.Record().Text() // it is kept with the node

	changed := *in.Class
	changed.Spec.OSDiskSizeGB = new(int32(64))
	in.Class = &changed
	record, err := launch.ParseRecord([]byte(annotation))
	if err != nil {
		fmt.Println(err) // it is not known what the node was made from, so it stays
		return
	}
	compared, err := launch.Compare(record, launch.Render(in, launch.Request{Claim: claim}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range compared.Changes {
		fmt.Println(c.Class, c.Path, c.Old, c.New)
	}
	// Output:
	// 2404gen2containerd CacheDisk true
	// 100 GB, of AKSNodeClass default (generation 3); not 128 of AKS
	// replace $.machine.disk.sizeGB 100 64
}
