package difference

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reread is a plan as its JSON has it.
func reread(t *testing.T, p resource.Plan) resource.Plan {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var read resource.Plan
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// A plan does not differ from itself, nor from what was written of it.
func TestSame(t *testing.T) {
	for _, name := range exampleNames(t) {
		p := planOf(t, name)
		for _, other := range []resource.Plan{p, reread(t, p)} {
			d := of(t, p, other)
			if !d.Same || d.Class != None || d.Text(cli.Style{}) != "" || len(d.Beyond(None))+len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Restarts)+len(d.Units) > 0 {
				t.Errorf("%s differs from itself: %+v", name, d)
			}
		}
	}
}

// Between any two nodes: every class above none has a reason, the difference's class is the greatest, both directions have the
// same resources, and two runs give the same result.
func TestAnyTwoExamples(t *testing.T) {
	names := exampleNames(t)
	for _, a := range names {
		for _, b := range names {
			before, after := planOf(t, a), planOf(t, b)
			d, back := of(t, before, after), of(t, after, before)
			worst := None
			for _, j := range judgementsOf(d) {
				worst = max(worst, j.Class)
				if j.Class > None && (len(j.Reasons) == 0 || j.Reasons[0].Class != j.Class) {
					t.Errorf("%s, %s: %+v", a, b, j)
				}
				for _, r := range j.Reasons {
					wellFormed(t, r.What, r.Class, r.Why, r.Source)
				}
			}
			if worst != d.Class || (len(d.Beyond(Restart)) > 0) != (d.Class > Restart) {
				t.Errorf("%s, %s: class %s, the worst is %s, beyond a restart is %v", a, b, d.Class, worst, d.Beyond(Restart))
			}
			if len(d.Added) != len(back.Removed) || len(d.Removed) != len(back.Added) || len(d.Changed) != len(back.Changed) {
				t.Errorf("%s, %s: another way back", a, b)
			}
			again, first := of(t, before, after), d
			one, _ := json.Marshal(first)
			two, _ := json.Marshal(again)
			if string(one) != string(two) || first.Text(cli.Style{}) != again.Text(cli.Style{}) {
				t.Errorf("%s, %s: two runs differ", a, b)
			}
		}
	}
}

// The class of several changes is the greatest of theirs.
func TestUnion(t *testing.T) {
	before := planOf(t, "native/full.yaml")
	edits := []func(*nodeconfig.NodeConfig){
		func(c *nodeconfig.NodeConfig) { c.System.Modules = []string{"dummy"} },
		func(c *nodeconfig.NodeConfig) { c.Kubelet.Labels = map[string]string{"a": "b"} },
		func(c *nodeconfig.NodeConfig) { c.Kubelet.Config["topologyManagerScope"] = "pod" },
		func(c *nodeconfig.NodeConfig) { c.Kubelet.Config["cgroupRoot"] = "/x" },
		func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://other.example:6443" },
		func(c *nodeconfig.NodeConfig) { c.Runtime.Containerd.DataDir = "/mnt/x" },
	}
	single := make([]Class, len(edits))
	for i, edit := range edits {
		single[i] = of(t, before, planOf(t, "native/full.yaml", edit)).Class
	}
	if want := []Class{None, None, Drain, Reboot, Replace, Drain}; !slices.Equal(single, want) {
		t.Fatalf("alone, they have the classes %v, want %v", single, want)
	}
	for set := range 1 << len(edits) {
		var chosen []func(*nodeconfig.NodeConfig)
		want := None
		for i, edit := range edits {
			if set&(1<<i) != 0 {
				chosen, want = append(chosen, edit), max(want, single[i])
			}
		}
		if got := of(t, before, planOf(t, "native/full.yaml", chosen...)).Class; got != want {
			t.Errorf("%06b: class %s, want %s", set, got, want)
		}
	}
}

// A machine that is not a node yet has nothing to drain.
func TestFirst(t *testing.T) {
	for _, name := range exampleNames(t) {
		p := planOf(t, name)
		if d := of(t, resource.Plan{}, p); d.Class != Restart || len(d.Added) != len(p.Resources) {
			t.Errorf("%s, on a new machine: class %s", name, d.Class)
		}
		if d := of(t, p.Only(resource.Base), p); d.Class != Restart {
			t.Errorf("%s, on its image: class %s", name, d.Class)
		}
		if d := of(t, p, resource.Plan{}); d.Class != Replace {
			t.Errorf("%s, taken away: class %s", name, d.Class)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const canary, other = "canary.0secret012345678", "anothr.0secret012345678"
	with := func(token string) resource.Plan {
		return planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) { c.Join.BootstrapToken = nodeconfig.NewSecret(token) })
	}
	for name, d := range map[string]*Difference{
		"changed": of(t, with(canary), with(other)), "added": of(t, resource.Plan{}, with(canary)), "removed": of(t, with(canary), resource.Plan{}),
		"read": of(t, reread(t, with(canary)), with(other)),
	} {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if d.Same {
			t.Errorf("%s: nothing differs", name)
		}
		for _, shown := range []string{string(data), d.Text(cli.Style{}), fmt.Sprint(d.Beyond(None))} {
			for _, secret := range []string{canary, other, base64.StdEncoding.EncodeToString([]byte(canary))[:16]} {
				if strings.Contains(shown, secret) {
					t.Errorf("%s: a secret is in %s", name, shown)
				}
			}
		}
	}
}

// The class fields stand beside what was there before them.
func TestJSON(t *testing.T) {
	d := of(t, node(file("/etc/a", "a", "x.service")), node(file("/etc/b", "b"), file(plan.NetworkDir+"/x", "b")))
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"same":false,"added":[{"id":"File:/etc/b","kind":"File","phase":"join","spec":{"path":"/etc/b","mode":"0644","content":"b"},"class":"none"},` +
		`{"id":"File:/etc/cni/net.d/x","kind":"File","phase":"join","spec":{"path":"/etc/cni/net.d/x","mode":"0644","content":"b"},"class":"drain",` +
		`"reasons":[{"class":"drain","what":"/etc/cni/net.d/x","why":"pods that run keep the network they were started in","source":"CNI specification: a network is removed by the configuration that it was added by"}]}],` +
		`"removed":[{"id":"File:/etc/a","kind":"File","phase":"join","restarts":["x.service"],"spec":{"path":"/etc/a","mode":"0644","content":"a"},"class":"restart",` +
		`"reasons":[{"class":"restart","what":"x.service","why":"reads it when it starts","source":"the plan: what restarts when a resource changes"}]}],` +
		`"changed":[],"restarts":["x.service"],"units":[{"unit":"x.service","effect":"restart"}],"class":"drain"}`
	if string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
}

func TestClass(t *testing.T) {
	for i, name := range Classes() {
		c, err := ParseClass(name)
		var read Class
		if err != nil || int(c) != i || c.String() != name || read.UnmarshalText([]byte(name)) != nil || read != c || !strings.HasPrefix(c.Words(), name) {
			t.Errorf("%s is %v, %v", name, c, err)
		}
	}
	if _, err := ParseClass("Drain"); err == nil || !strings.Contains(err.Error(), "none, reload, restart, drain, reboot, replace") {
		t.Error(err)
	}
}

// goldens are whole outputs.
func goldens(t *testing.T) map[string][2]resource.Plan {
	full := planOf(t, "native/full.yaml")
	places := profile.Default().Paths
	return map[string][2]resource.Plan{
		"notes": {full, planOf(t, "native/minimal.yaml")},
		"drain": {full, planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config["cpuManagerPolicy"] = "static"
			c.Kubelet.Config["podLogsDir"] = "/mnt/logs"
		})},
		"replace": {full, planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) {
			c.Cluster.Server = "https://other.example:6443"
			c.Kubelet.NodeName = "other"
		})},
		"network": {planOf(t, "aks/azure-cni.json"), planOf(t, "aks/kubenet.json")},
		"token": {full, planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) {
			c.Join.BootstrapToken = nodeconfig.NewSecret("abcdef.fedcba9876543210")
		})},
		"odd": {
			node(file("/etc/a", "one\n-- two\nthree\n"), file("/etc/b", "\xff"), file("/etc/mode", "x"), file(places.KubeletConfig, "[", plan.KubeletUnit)),
			node(file("/etc/a", "one\n\x1b[31mtwo\x07\nthree"), file("/etc/b", "\xfe"), sample("File", "/etc/mode", "x"), file(places.KubeletConfig, "]", plan.KubeletUnit)),
		},
	}
}

func TestText(t *testing.T) {
	for name, plans := range goldens(t) {
		got := of(t, plans[0], plans[1]).Text(cli.Style{})
		path := filepath.Join("testdata", "text", name+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := string(read(t, path)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
		}
		if strings.ContainsAny(got, "\x1b\x07\r") {
			t.Errorf("%s steers a terminal: %q", name, got)
		}
	}
}
