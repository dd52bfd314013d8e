package plan

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Each of these is a problem at the setting that named it: two concerns with one path, a path that must not be written, a path below
// a file, and a requirement that no resource fulfils.
func TestGuard(t *testing.T) {
	const at = "$.kubelet.imageCredentialProvider.configFile"
	file := func(path string) concern.Concern {
		return concern.Concern{Name: path, Plan: func(_ *concern.Input, out *concern.Output) { out.File(resource.Base, path, 0o644, nil, "") }}
	}
	asking := func(path string) concern.Concern {
		return concern.Concern{Name: "asks", Plan: func(_ *concern.Input, out *concern.Output) {
			out.File(resource.Join, path, 0o644, nil, "")
			out.AskedBy(at)
		}}
	}
	spec := func(s resource.Spec) concern.Concern {
		return concern.Concern{Name: string(resource.IDOf(s)), Plan: func(_ *concern.Input, out *concern.Output) {
			out.Append(resource.Resource{Phase: resource.Base, Spec: s})
		}}
	}
	for name, c := range map[string]struct {
		concerns []concern.Concern
		path     string
		left     int
	}{
		"fine":                   {concerns: []concern.Concern{file("/etc/a"), asking("/etc/b")}, left: 2},
		"one path":               {[]concern.Concern{file("/etc/a"), asking("/etc/a")}, at, 1},
		"one path, own":          {[]concern.Concern{file("/etc/a"), file("/etc/a")}, "$", 1},
		"below a file":           {[]concern.Concern{file("/etc/a"), asking("/etc/a/b")}, at, 2},
		"a file above another":   {[]concern.Concern{file("/etc/a/b"), asking("/etc/a")}, at, 2},
		"a forbidden path":       {[]concern.Concern{asking("/etc/shadow")}, at, 1},
		"two blocks of a file":   {concerns: []concern.Concern{spec(&resource.Block{Path: "/etc/hosts", Label: "a", Content: "x\n"}), spec(&resource.Block{Path: "/etc/hosts", Label: "b", Content: "x\n"})}, left: 2},
		"one block twice":        {[]concern.Concern{spec(&resource.Block{Path: "/etc/hosts", Label: "a", Content: "x\n"}), spec(&resource.Block{Path: "/etc/hosts", Label: "a", Content: "y\n"})}, "$", 1},
		"a file and its block":   {[]concern.Concern{spec(&resource.Block{Path: "/etc/a", Label: "a", Content: "x\n"}), asking("/etc/a")}, at, 1},
		"runs, and must not":     {[]concern.Concern{spec(&resource.Unit{Unit: "a.service"}), spec(&resource.UnitState{Unit: "a.service", State: resource.UnitMasked})}, "$", 1},
		"no value of its kind":   {[]concern.Concern{spec(&resource.Swap{Path: "/mnt/swapfile"})}, "$", 1},
		"it need not be at boot": {concerns: []concern.Concern{spec(&resource.Unit{Unit: "a.service"})}, left: 1},
		"unfulfilled": {[]concern.Concern{{Name: "x", Plan: func(_ *concern.Input, out *concern.Output) {
			out.Append(resource.Resource{Requires: []resource.ID{"Unit:none.service"}, Spec: &resource.Unit{Unit: "x.service"}})
		}}}, "$", 1},
		"an empty group": {concerns: []concern.Concern{{Name: "x", Plan: func(_ *concern.Input, out *concern.Output) {
			out.Append(resource.Resource{Requires: []resource.ID{concern.KernelGroup.All()}, Spec: &resource.Unit{Unit: "x.service"}})
		}}}, left: 1},
	} {
		for range 2 {
			var all []*concern.Concern
			for i := range c.concerns {
				all = append(all, &c.concerns[i])
			}
			plan, problems := planAll(all, concern.NewInput(contract(t, "native/minimal.yaml"), facts.Facts{}))
			if len(plan.Resources) != c.left || (len(problems) == 0) != (c.path == "") || c.path != "" && (len(problems) != 1 || problems[0].Path != c.path || !problems[0].Fatal) {
				t.Errorf("%s: %d resources, %v", name, len(plan.Resources), problems)
			}
			for _, r := range plan.Resources {
				if slices.Contains(r.Requires, concern.KernelGroup.All()) {
					t.Errorf("%s: a group is required by name", name)
				}
			}
			slices.Reverse(c.concerns)
		}
	}
}
