package apply_test

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

const intentPath = "/var/lib/slipway/intent.json"

func engine(host apply.Host) *apply.Engine {
	e := &apply.Engine{Host: host, Now: time.Now, Log: slog.New(slog.DiscardHandler), Sequential: true}
	if m, ok := host.(*memory); ok {
		e.Stale = m.stale
	}
	return e
}

// applied applies a plan and requires success.
func applied(t *testing.T, host apply.Host, p resource.Plan) *apply.Report {
	t.Helper()
	report, err := engine(host).Apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// try applies a plan with any outcome.
func try(host apply.Host, p resource.Plan) error {
	_, err := engine(host).Apply(context.Background(), p)
	return err
}

// aksPlan is the plan of an example of an AKS contract.
func aksPlan(t testing.TB, change ...func(*nodeconfig.NodeConfig)) resource.Plan {
	t.Helper()
	decoded := dialect.Decode(read(t, "../../examples/aks/azure-cni.json"), "")
	if fatal := nodeconfig.Fatal(decoded.Problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	for _, f := range change {
		f(decoded.Config)
	}
	known, err := facts.Parse(read(t, "../../examples/facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := plan.New(decoded.Config, known)
	return p
}

// changedConfig changes much of a contract, but not all: files of either unit, a kernel parameter, a module.
func changedConfig(c *nodeconfig.NodeConfig) {
	c.Kubelet.Labels["changed"] = "true"
	c.Runtime.SandboxImage = "registry.example/pause:9"
	c.Runtime.Containerd.Limits["NOFILE"] = "4096"
	c.System.Sysctls["vm.max_map_count"] = "9999"
	c.System.Modules = append(c.System.Modules, "ip_vs")
	c.Cluster.KubernetesVersion = "1.31.1"
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// planOf is a plan of the given specs, each of the base phase.
func planOf(specs ...resource.Spec) resource.Plan {
	var p resource.Plan
	for _, spec := range specs {
		p.Resources = append(p.Resources, resource.Resource{Phase: resource.Base, Spec: spec})
	}
	p.Sort()
	return p
}

// with is a plan of resources.
func with(resources ...resource.Resource) resource.Plan {
	p := resource.Plan{Resources: resources}
	p.Sort()
	return p
}

func file(path, content string, restarts ...string) resource.Resource {
	return resource.Resource{Effects: resource.Restarting(restarts...), Spec: &resource.File{Path: path, Mode: 0o644, Content: []byte(content)}}
}

func started(name string, requires ...resource.ID) resource.Resource {
	return resource.Resource{Requires: requires, Spec: &resource.Unit{Unit: name}}
}

// changes are the changed resources of a report, with the actions.
func changes(report *apply.Report) []string {
	var list []string
	for _, c := range report.Changes {
		list = append(list, string(c.Action)+" "+string(c.ID))
	}
	return list
}

func names(ids []resource.ID) []string {
	var list []string
	for _, id := range ids {
		list = append(list, string(id))
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// converged requires that a machine matches a plan completely: files, units that run with the present files, the
// kernel, and nothing left behind.
func converged(t *testing.T, m *memory, p resource.Plan) {
	t.Helper()
	inputs := make(map[string][]string)
	for _, r := range p.Resources {
		for _, u := range slices.Concat(r.Restarts, r.Reloads) {
			inputs[u] = append(inputs[u], r.Spec.Name())
		}
		if is := asPlanned[r.Spec.Kind()]; is != nil && !is(m, r.Spec) {
			t.Errorf("%s is not as planned", r.ID())
		}
	}
	for name, u := range m.units {
		for _, input := range inputs[name] {
			if u.state == "active" && !u.inputs[input].equal(m.files[input]) {
				t.Errorf("%s runs with an earlier %s", name, input)
			}
		}
	}
	for name := range m.units {
		if !maps.EqualFunc(filesOf(name, m.loaded), filesOf(name, m.files), entry.equal) {
			t.Errorf("systemd has not read the files of %s again", name)
		}
	}
	for label, ran := range m.ran {
		if !maps.EqualFunc(ran.seen, m.inputsOf(ran.command), entry.equal) {
			t.Errorf("%s has not seen what it works on now", label)
		}
	}
	undone(t, m)
	if left := slices.Sorted(maps.Keys(m.staged)); len(left) > 0 {
		t.Errorf("staged files are left behind: %s", strings.Join(left, " "))
	}
	if e := m.files[intentPath]; e.Kind != apply.Absent {
		t.Errorf("the record of the intent is left behind: %s", e.content)
	}
}
