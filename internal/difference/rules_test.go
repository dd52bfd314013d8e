package difference

import (
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sample is a resource of a kind, in one of two states.
func sample(kind, name string, state string) resource.Resource {
	r := resource.Resource{Phase: resource.Join}
	switch kind {
	case "File":
		r.Spec = &resource.File{Path: name, Content: []byte(state)}
	case "Symlink":
		r.Spec = &resource.Symlink{Path: name, Target: state}
	case "Sysctl":
		r.Spec = &resource.Sysctl{Key: name, Value: state}
	case "Module":
		r.Spec = &resource.Module{Module: name}
	case "Unit":
		r.Spec = &resource.Unit{Unit: name}
	}
	return r
}

// Each row of the table, for each of its names and each event that it is for.
func TestPlacedCases(t *testing.T) {
	for _, row := range ruleTable {
		names := row.Names
		if len(names) == 0 {
			names = []string{"a.b"}
		}
		for _, name := range names {
			name = strings.ReplaceAll(name, "*", "x")
			old, new := sample(row.Kind, name, "old"), sample(row.Kind, name, "new")
			for event, plans := range map[event][2]resource.Plan{
				added: {without(node(), old.ID()), node(new)}, removed: {node(old), without(node(), old.ID())}, changed: {node(old), node(new)},
			} {
				d := of(t, plans[0], plans[1])
				var reasons []string
				for _, j := range judgementsOf(d) {
					for _, r := range j.Reasons {
						reasons = append(reasons, r.Why)
					}
				}
				// A resource that shows that the machine was a node cannot be added to one.
				want := row.On&event != 0 && !(event == changed && (row.Kind == "Module" || row.Kind == "Unit"))
				if got := slices.Contains(reasons, row.Reason); got != want || got && d.Class != max(row.Class, classOfPlace(row, name)) {
					t.Errorf("%s %s, event %d: class %s, %q", row.Kind, name, event, d.Class, reasons)
				}
			}
		}
	}
}

// classOfPlace is the class of a change by the file's path.
func classOfPlace(row ruleRow, name string) Class {
	if row.Kind == "File" && strings.HasPrefix(name, resource.UnitDir) {
		return Reload
	}
	return None
}

func judgementsOf(d *Difference) []Judgement {
	var all []Judgement
	for _, w := range slices.Concat(d.Added, d.Removed) {
		all = append(all, w.Judgement)
	}
	for _, c := range d.Changed {
		all = append(all, c.Judgement)
	}
	return all
}

func certificate(contents ...string) string {
	var all []byte
	for _, c := range contents {
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(c)})...)
	}
	return string(all)
}

func TestRulesThatLookInside(t *testing.T) {
	places := profile.All()[0].Paths
	ca := func(contents ...string) resource.Resource {
		return file(places.CA, certificate(contents...), plan.KubeletUnit)
	}
	kubelet := func(target string) resource.Plan {
		return node(resource.Resource{Effects: resource.Restarting(plan.KubeletUnit), Spec: &resource.Symlink{Path: places.Kubelet, Target: target}})
	}
	server := func(url string) resource.Resource {
		return resource.Resource{Spec: &resource.Check{Label: "api-server", APIServer: &resource.APIServer{Server: url}}}
	}
	bootstrap := func(content string, until ...string) resource.Resource {
		return resource.Resource{Effects: resource.Restarting(plan.KubeletUnit), Spec: &resource.File{Path: places.BootstrapConfig, Content: []byte(content), Secret: true, Until: until}}
	}
	for name, c := range map[string]struct {
		before, after resource.Plan
		class         Class
		reason        ruleRow
	}{
		"a certificate more":     {node(ca("a")), node(ca("a", "b")), Restart, authorityExtended},
		"a certificate less":     {node(ca("a", "b")), node(ca("b")), Restart, authorityExtended},
		"other certificates":     {node(ca("a")), node(ca("b")), Replace, authorityReplaced},
		"no certificates":        {node(ca("a")), node(), Replace, authorityReplaced},
		"version unknown":        {kubelet("/opt/a/kubelet"), kubelet("/opt/v1.34.9/kubelet"), Drain, versionUnknown},
		"a link is added":        {node(), kubelet("/opt/v1.34.9/kubelet"), Drain, versionUnknown},
		"another server":         {node(server("https://a")), node(server("https://b")), Replace, serverReplaced},
		"token, read by kubelet": {node(bootstrap("a")), node(bootstrap("b")), Restart, bootstrapIgnored},
		"token, after joining":   {node(bootstrap("a", "/x")), node(bootstrap("b", "/x")), None, bootstrapIgnored},
		"token, none kept":       {node(), node(bootstrap("b", "/x")), None, bootstrapIgnored},
	} {
		d := of(t, c.before, c.after)
		judged := judgementsOf(d)
		if len(judged) != 1 || d.Class != c.class || !slices.ContainsFunc(judged[0].Reasons, func(r Reason) bool { return r.Why == c.reason.Reason && r.Class == c.reason.Class }) {
			t.Errorf("%s: class %s, want %s: %+v", name, d.Class, c.class, judged)
		}
		if restarts := len(d.Restarts) > 0; restarts && d.Class < Restart {
			t.Errorf("%s: class %s, and restarts %q", name, d.Class, d.Restarts)
		}
		if fresh := of(t, without(c.before, "Unit:"+plan.KubeletUnit), c.after); fresh.Class > Restart {
			t.Errorf("%s, on a machine that is no node: class %s", name, fresh.Class)
		}
	}
}

// The version that a contract names is a value of the node, whether anything is written for it or not.
func TestVersion(t *testing.T) {
	ofVersion := func(version string) resource.Plan {
		return planOf(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Cluster.KubernetesVersion = version })
	}
	for name, c := range map[string]struct {
		before, after string
		row           ruleRow
	}{
		"patch":       {"1.36.1", "1.36.2", versionPatch},
		"patch, down": {"1.36.2", "1.36.1", versionPatch},
		"minor":       {"1.36.1", "1.37.0", versionUpgrade},
		"two minors":  {"1.35.1", "1.37.0", versionUpgrade},
		"minor, down": {"1.37.0", "1.36.1", versionDowngrade},
		"unknown":     {nodeconfig.InstalledVersion, "1.36.1", versionUnknown},
	} {
		before, after := ofVersion(c.before), ofVersion(c.after)
		for _, before := range []resource.Plan{before, reread(t, before)} {
			d := of(t, before, after)
			if d.Same || d.Version == nil || d.Version.Class != c.row.Class || d.Version.Reasons[0].Why != c.row.Reason || d.Class < c.row.Class {
				t.Errorf("%s: %+v", name, d.Version)
			}
			if beyond := d.Beyond(Restart); c.row.Class > Restart && (len(beyond) == 0 || !strings.Contains(d.Text(cli.Style{}), "~ Kubernetes ")) {
				t.Errorf("%s: %v: %s", name, beyond, d.Text(cli.Style{}))
			}
		}
		if d := of(t, without(before, "Unit:"+plan.KubeletUnit), after); d.Version != nil {
			t.Errorf("%s, on a machine that is no node: %+v", name, d.Version)
		}
		if d := of(t, before, before); !d.Same || d.Version != nil {
			t.Errorf("%s: a version differs from itself", name)
		}
	}
}

// A difference that no table covers has the class of its effect on units.
func TestClassWithoutRow(t *testing.T) {
	for name, c := range map[string]struct {
		before, after resource.Plan
		class         Class
		units         []Unit
	}{
		"a file":           {node(), node(file("/etc/x", "a")), None, []Unit{}},
		"a unit's file":    {node(), node(file(resource.UnitDir+"/x.service", "a")), Reload, []Unit{{"x.service", Reloads}}},
		"a drop-in":        {node(file(resource.UnitDir+"/x.service.d/1.conf", "a")), node(), Reload, []Unit{{"x.service", Reloads}}},
		"a link":           {node(), node(sample("Symlink", resource.UnitDir+"/multi-user.target.wants/x.service", "y")), Reload, []Unit{{"x.service", Reloads}}},
		"what is read":     {node(file("/etc/x", "a", "x.service")), node(file("/etc/x", "b", "x.service")), Restart, []Unit{{"x.service", Restarts}}},
		"a unit":           {node(), node(sample("Unit", "x.service", ""), file("/etc/x", "a", "x.service")), Restart, []Unit{{"x.service", Starts}}},
		"a unit less":      {node(sample("Unit", "x.service", "")), node(), None, []Unit{{"x.service", Stops}}},
		"who is restarted": {node(file("/etc/x", "a", "x.service")), node(file("/etc/x", "a", "y.service")), None, []Unit{}},
	} {
		d := of(t, c.before, c.after)
		if d.Class != c.class || !slices.Equal(d.Units, c.units) {
			t.Errorf("%s: class %s, units %v; want %s, %v", name, d.Class, d.Units, c.class, c.units)
		}
	}
}

// What containerd reads at the next pull restarts nothing, whatever happens to it.
func TestRegistries(t *testing.T) {
	with := func(url string) resource.Plan {
		return planOf(t, "native/full.yaml", func(c *nodeconfig.NodeConfig) {
			c.Runtime.Registries = map[string]nodeconfig.Registry{"docker.io": {Mirrors: []nodeconfig.RegistryHost{{
				URL: url, Username: nodeconfig.NewSecret("a"), Password: nodeconfig.NewSecret("b"),
			}}}}
		})
	}
	none, one, other := planOf(t, "native/full.yaml"), with("https://one.example"), with("https://other.example")
	for name, plans := range map[string][2]resource.Plan{"added": {none, one}, "changed": {one, other}, "removed": {other, none}} {
		d := of(t, plans[0], plans[1])
		if d.Same || d.Class != None || len(d.Restarts) > 0 {
			t.Errorf("%s: class %s, restarts %v", name, d.Class, d.Restarts)
		}
		for id, j := range judgementsOf(d) {
			if len(j.Reasons) == 0 || !strings.Contains(j.Reasons[0].Why, "at the next pull") {
				t.Errorf("%s: %v: %+v", name, id, j)
			}
		}
	}
}
