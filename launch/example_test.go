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

// A claim becomes a template, and the template user data. No other value of the template is secret.
func ExampleRender() {
	claim := new(launch.NodeClaim)
	problems := launch.Read(exampleFile("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	template, found := launch.Render(exampleInput(), launch.Request{Claim: claim})
	for _, p := range nodeconfig.Fatal(append(problems, found...)) {
		fmt.Println(p)
	}
	fmt.Println(template.Document().Machine.Image.Definition, template.Document().Machine.Disk.Placement)
	userData, err := template.UserData(nodeconfig.NewSecret("abcdef.0123456789abcdef"))
	fmt.Println(len(userData) > 1000, err)
	// Output:
	// 2404gen2containerd CacheDisk
	// true <nil>
}

// Each value says where it is from.
func ExampleTemplate_Explain() {
	claim := new(launch.NodeClaim)
	launch.Read(exampleFile("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	template, _ := launch.Render(exampleInput(), launch.Request{Claim: claim})
	for _, v := range template.Explain("machine.disk") {
		fmt.Printf("%s is %s: %s, %s\n", v.Path, v.Value, v.Source, v.Where())
		for _, o := range v.Overrode {
			fmt.Printf("  and not %s of %s: %s\n", o.Value, o.Where(), o.Reason)
		}
	}
	// Output:
	// $.machine.disk.ephemeral is true: computed, disk
	// $.machine.disk.placement is CacheDisk: computed, disk
	// $.machine.disk.sizeGB is 100: nodeClass, AKSNodeClass default (generation 3)
	//   and not 128 of AKS: what somebody has said goes before what is the same for all nodes
}

// A node that runs is compared with the one that is wanted.
func ExampleCompare() {
	claim := new(launch.NodeClaim)
	launch.Read(exampleFile("nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	in := exampleInput()
	running, _ := launch.Render(in, launch.Request{Claim: claim})
	annotation := running.Record().Text()

	changed := *in.Class
	changed.Spec.OSDiskSizeGB = new(int32(64))
	in.Class = &changed
	wanted, _ := launch.Render(in, launch.Request{Claim: claim})

	record, err := launch.ParseRecord([]byte(annotation))
	if err != nil {
		fmt.Println(err) // it is not known what the node was made from, so it stays
		return
	}
	compared, err := launch.Compare(record, wanted)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(compared.Class)
	for _, c := range compared.Changes {
		fmt.Println(c.Path, c.Old, c.New)
	}
	// Output:
	// replace
	// $.machine.disk.sizeGB 100 64
}

// What a machine reports becomes a reason for its claim.
func ExampleReadOutcome() {
	outcome, err := launch.ReadOutcome([]byte("Enable failed: failed to execute command: command terminated with exit status=121\n[stdout]\n\n[stderr]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Reason, outcome.Retry)
	fmt.Println(outcome.Message)
	// Output:
	// ImageIncomplete false
	// the kubelet for this Kubernetes version is not on the machine and could not be put there
}
