package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

const examples = "../../examples/"

// contract is an example, complete and valid, with changes made before it was completed.
func contract(t testing.TB, example string, change ...func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
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
	return decoded.Config
}

// anySystem takes out which operating system a contract is for: what is planned depends on the facts alone then.
func anySystem(c *nodeconfig.NodeConfig) { c.Components.OS = nil }

// contracts are the examples, by name, for machines with any operating system.
func contracts(t testing.TB) map[string]*nodeconfig.NodeConfig {
	t.Helper()
	found, err := filepath.Glob(examples + "*/*.*")
	if err != nil || len(found) == 0 {
		t.Fatal("no examples", err)
	}
	all := make(map[string]*nodeconfig.NodeConfig)
	for _, path := range found {
		name, err := filepath.Rel(examples, path)
		if err != nil {
			t.Fatal(err)
		}
		if kind := filepath.Dir(name); kind != "facts" && kind != "launch" && kind != "packer" {
			all[name] = contract(t, name, anySystem)
		}
	}
	return all
}

// ubuntu are the facts of a machine with a node image.
func ubuntu(t testing.TB) facts.Facts {
	t.Helper()
	known, err := facts.Parse(read(t, examples+"facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// familyOf is the family of a config's node.
func familyOf(c *nodeconfig.NodeConfig) *profile.Profile { return profile.Of(c.Components.Layout) }

// fileAt is a file of a plan.
func fileAt(t testing.TB, p resource.Plan, path string) *resource.File {
	t.Helper()
	f := fileIn(p, path)
	if f == nil {
		t.Fatalf("the plan has no file %s", path)
	}
	return f
}

// fileIn is a file of a plan, or nil.
func fileIn(p resource.Plan, path string) *resource.File {
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok && f.Path == path {
			return f
		}
	}
	return nil
}

// planned reports whether a plan has a resource.
func planned(p resource.Plan, id resource.ID) bool {
	for _, r := range p.Resources {
		if r.ID() == id {
			return true
		}
	}
	return false
}
