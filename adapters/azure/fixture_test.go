package azure_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/slipway-dev/slipway/adapters/azure"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The inputs are those of package launch's own golden templates: its examples, with the changes of each case.
const (
	examples = "../../examples/launch"
	cases    = "../../launch/testdata"
)

// token and sshKey must be in their fields of the model, and nowhere else.
const (
	token  = "canary.0123456789abcdef"
	sshKey = "ssh-ed25519 AAAACANARYOFTHEKEY admin@example"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t testing.TB, data []byte) *document.Node {
	t.Helper()
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// input is a document of the examples with a case's changes. It is nil if the case removes it.
func input(t testing.TB, name string, c *document.Node) []byte {
	t.Helper()
	data := read(t, filepath.Join(examples, name+".yaml"))
	over, said := c.Get(name)
	switch {
	case said && over.Kind == document.Null:
		return nil
	case said:
		return document.Merge(parse(t, data), over).Top.AppendJSON(nil)
	}
	return data
}

// altered is a cloud with additional decisions.
type altered struct {
	launch.Cloud
	alter func(*launch.Document)
}

func (a altered) Rules() []launch.Rule {
	return append(slices.Clip(a.Cloud.Rules()), launch.Rule{Run: func(d *launch.Document) []nodeconfig.Problem { a.alter(d); return nil }})
}

// template renders a case of package launch, with additional decisions.
func template(t testing.TB, name string, alter ...func(*launch.Document)) *launch.Launch {
	t.Helper()
	c := parse(t, read(t, filepath.Join(cases, name+".yaml")))
	var problems, found []nodeconfig.Problem
	add := func(more []nodeconfig.Problem) { problems = append(problems, more...) }
	var in azure.Input
	var request launch.Request
	in.Settings, found = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: input(t, "settings", c)},
		azure.SettingsSource{Name: "key", Variables: map[string]string{"SSH_PUBLIC_KEY": sshKey}})
	add(found)
	in.Class, found = azure.ReadNodeClass(input(t, "nodeclass", c))
	add(found)
	in.Detected, found = azure.ReadDetected(input(t, "detected", c))
	add(found)
	in.Images, found = azure.ReadImages(input(t, "images", c))
	add(found)
	if data := input(t, "nodepool", c); data != nil {
		request.Pool = new(launch.NodePool)
		add(launch.Read(data, launch.KarpenterVersion, "NodePool", request.Pool))
	}
	if data := input(t, "nodeclaim", c); data != nil {
		request.Claim = new(launch.NodeClaim)
		add(launch.Read(data, launch.KarpenterVersion, "NodeClaim", request.Claim))
	}
	size := "Standard_D4ds_v5"
	if n, ok := c.Get("type"); ok {
		size = n.Text
	}
	var err error
	if in.Type, err = azure.ReadInstanceType(read(t, filepath.Join(examples, "skus.json")), size, "eastus"); err != nil {
		t.Fatal(err)
	}
	var cloud launch.Cloud = &in
	for _, a := range alter {
		cloud = altered{cloud, a}
	}
	tpl := launch.Render(cloud, request)
	found = tpl.Problems()
	if alter == nil {
		add(found)
	}
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatalf("%s is no template that a machine is started from: %v", name, fatal)
	}
	return tpl
}

// machineOf returns the machine of a case.
func machineOf(t testing.TB, name string, alter ...func(*launch.Document)) *sdk.Machine {
	t.Helper()
	return &sdk.Machine{
		Launch: template(t, name, alter...), Token: nodeconfig.NewSecret(token), Name: "aks-general-abcde",
		BackendPools: []string{pool("kubernetes"), pool("aksOutboundBackendPool")},
	}
}

// pool is the ID of a load balancer's pool.
func pool(name string) string {
	return "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/MC_example_example_eastus/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/" + name
}

// models are all models of a machine.
type models struct {
	Interface      any `json:"interface"`
	VirtualMachine any `json:"virtualMachine"`
	Extension      any `json:"extension"`
	ScaleSet       any `json:"scaleSet"`
}

// modelsOf makes them.
func modelsOf(t testing.TB, m *sdk.Machine) models {
	t.Helper()
	var all models
	var err error
	check := func() {
		if err != nil {
			t.Fatal(err)
		}
	}
	all.Interface, err = m.Interface()
	check()
	all.VirtualMachine, err = m.VirtualMachine()
	check()
	all.Extension, err = m.Extension()
	check()
	all.ScaleSet, err = m.ScaleSet(3)
	check()
	return all
}

// marshal writes a model as the SDK's clients send it.
func marshal(t testing.TB, model any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(model); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
