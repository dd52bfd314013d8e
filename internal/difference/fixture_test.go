package difference

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

const examples = "../../examples/"

// planOf plans an example, with changes made before it was completed.
func planOf(t testing.TB, example string, change ...func(*nodeconfig.NodeConfig)) resource.Plan {
	t.Helper()
	return planOn(t, func(*facts.Facts) {}, example, change...)
}

// planOn is the same for a machine that is not quite that of the facts.
func planOn(t testing.TB, machine func(*facts.Facts), example string, change ...func(*nodeconfig.NodeConfig)) resource.Plan {
	t.Helper()
	decoded := dialect.Decode(read(t, examples+example), "")
	if fatal := nodeconfig.Fatal(decoded.Problems); len(fatal) > 0 {
		t.Fatal(example, fatal)
	}
	for _, f := range change {
		f(decoded.Config)
	}
	nodeconfig.Default(decoded.Config)
	if problems := nodeconfig.Repair(decoded.Config); len(problems) > 0 {
		t.Fatal(example, problems)
	}
	known, err := facts.Parse(read(t, examples+"facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	machine(&known)
	made, _ := plan.New(decoded.Config, known)
	return made
}

// exampleNames are the examples of contracts.
func exampleNames(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob(examples + "*/*.*")
	if err != nil || len(found) == 0 {
		t.Fatal("no examples", err)
	}
	var names []string
	for _, path := range found {
		if name, _ := strings.CutPrefix(filepath.ToSlash(path), examples); !strings.HasPrefix(name, "facts/") && !strings.HasPrefix(name, "launch/") && !strings.HasPrefix(name, "packer/") {
			names = append(names, name)
		}
	}
	return names
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func of(t testing.TB, before, after resource.Plan) *Difference {
	t.Helper()
	d, err := Of(before, after)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// with is a plan with resources put into it, in place of those of the same names.
func with(p resource.Plan, resources ...resource.Resource) resource.Plan {
	p.Resources = slices.Clone(p.Resources)
	for _, r := range resources {
		p = without(p, r.ID())
		p.Resources = append(p.Resources, r)
	}
	p.Sort()
	return p
}

// without is a plan without a resource.
func without(p resource.Plan, id resource.ID) resource.Plan {
	p.Resources = slices.DeleteFunc(slices.Clone(p.Resources), func(r resource.Resource) bool { return r.ID() == id })
	return p
}

// file is a file that a unit reads.
func file(path, content string, restarts ...string) resource.Resource {
	return resource.Resource{Phase: resource.Join, Effects: resource.Restarting(restarts...), Spec: &resource.File{Path: path, Mode: 0o644, Content: []byte(content)}}
}

// node is a plan of a kubelet and nothing else.
func node(resources ...resource.Resource) resource.Plan {
	return with(resource.Plan{Resources: []resource.Resource{{Phase: resource.Join, Spec: &resource.Unit{Unit: plan.KubeletUnit}}}}, resources...)
}
