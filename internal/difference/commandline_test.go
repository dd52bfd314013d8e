package difference

import (
	"maps"
	"testing"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What the planner writes is read back, with the file it is in.
func TestFlagsOf(t *testing.T) {
	const hostile = "a \"b' --node-ip=1.2.3.4 \\ $x ${y} %n `z` # é"
	p := planOf(t, "aks/azure-cni.json", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Labels = map[string]string{"a": "b", "c": "d"}
		c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "hostile", Value: hostile}, nodeconfig.Flag{Name: "twice", Value: "1"}, nodeconfig.Flag{Name: "twice", Value: "2"})
	})
	flags := flagsOf(p)
	dropIns := "File:" + resource.UnitDir + "/" + plan.KubeletUnit + ".d/"
	for name, want := range map[string]argument{
		"v":                          {"2", resource.ID("File:" + resource.UnitDir + "/" + plan.KubeletUnit)},
		"node-labels":                {"a=b,c=d", "File:/etc/default/kubelet"},
		"node-ip":                    {"10.224.0.4", "File:/etc/default/kubelet"},
		"hostile":                    {hostile, "File:/etc/default/kubelet"},
		"twice":                      {"1,2", "File:/etc/default/kubelet"},
		"kubeconfig":                 {"/var/lib/kubelet/kubeconfig", resource.ID(dropIns + "10-tlsbootstrap.conf")},
		"container-runtime-endpoint": {"unix:///run/containerd/containerd.sock", resource.ID(dropIns + "10-containerd-base-flag.conf")},
	} {
		if flags[name] != want {
			t.Errorf("--%s is %q, want %q", name, flags[name], want)
		}
	}
	for name := range flags {
		if name == "" || name[0] == '-' {
			t.Errorf("a flag is called %q", name)
		}
	}
}

func TestFlagNames(t *testing.T) {
	flags := make(map[string]argument)
	for _, word := range []string{"--a_b=1", "--c", "plain", "-d=1", "--e="} {
		addFlag(flags, argument{word, "x"})
	}
	if want := map[string]argument{"a-b": {"1", "x"}, "c": {"true", "x"}, "e": {"", "x"}}; !maps.Equal(flags, want) {
		t.Errorf("got %v, want %v", flags, want)
	}
}

func TestEnvironmentOf(t *testing.T) {
	got := environmentOf("A=plain words\nB=\"a \\\"b\\\"\nc \\\\ \\$\"\nC=\nD=\"\"\nE=last")
	if want := map[string]string{"A": "plain words", "B": "a \"b\"\nc \\ $", "C": "", "D": "", "E": "last"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A flag whose variable is no longer part of the command line is gone, though its file is as it was.
func TestVariableNoLongerRead(t *testing.T) {
	before := planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) { c.Kubelet.NodeName = "one" })
	unit := resource.UnitDir + "/" + plan.KubeletUnit
	after := with(before, file(unit, "[Service]\nExecStart=/usr/bin/kubelet --v=2\n", plan.KubeletUnit))
	d := of(t, before, after)
	if d.Class != Replace || len(d.Changed) != 1 || d.Changed[0].ID != resource.ID("File:"+unit) {
		t.Errorf("class %s: %+v", d.Class, d.Changed)
	}
}

func FuzzReaders(f *testing.F) {
	for _, seed := range []string{"A=\"", "A=\"\\", "=", "ExecStart=--a=${", "ExecStart=$A", "Environment=\"A=b", "[x]\na = b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		unit := resource.UnitDir + "/" + plan.KubeletUnit
		places := plan.AllPlaces()[0]
		p := node(file(unit, text), file(unit+".d/1.conf", text), file(places.KubeletEnv, text), file(places.KubeletConfig, text), file(plan.ContainerdConfig, text))
		of(t, node(), p)
		of(t, p, node())
	})
}
