package transition

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
)

// maxDrifted bounds a file whose content is shown beside what it should be.
const maxDrifted = 1 << 20

// Drift reports what is not as the current generation has it: what an apply of it would change, and what it would leave,
// because it is somebody's decision or because it takes more. The plan is the generation's, without what is left.
func (n *Node) Drift(ctx context.Context) ([]apply.Change, resource.Plan, error) {
	store, err := generation.Open(n.Host, n.Log)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	current, any := store.Current()
	if !any {
		return nil, resource.Plan{}, outcome.Refused("this machine has no generation yet")
	}
	desired, err := store.Plan(current.Number)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	units, err := masked(n.Host, desired)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	others, err := foreign(n.Host, store, units)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	desired = withoutUpgraded(n.Host, without(desired, units))
	report, err := n.Preview(ctx, desired)
	return append(report.Changes, others...), desired, err
}

// Actual is a plan with what is on the machine in the place of what has changed.
func Actual(host Host, desired resource.Plan, changes []apply.Change) resource.Plan {
	actual := desired
	actual.Resources = nil
	for _, r := range desired.Resources {
		there := true
		if slices.ContainsFunc(changes, func(c apply.Change) bool { return c.ID == r.ID() }) {
			r.Spec, there = found(host, r.Spec)
		}
		if there {
			actual.Resources = append(actual.Resources, r)
		}
	}
	return actual
}

// found is what is on the machine in a resource's place, and whether it is a thing of that kind. Of what is no file and
// no kernel parameter, such as a unit, there is no more to say than that an apply would change it.
func found(host Host, spec resource.Spec) (resource.Spec, bool) {
	switch spec := spec.(type) {
	case *resource.File:
		have := *spec
		entry, err := host.Stat(spec.Path)
		if err != nil || entry.Kind != apply.RegularFile {
			return spec, false
		}
		if have.Content, err = host.ReadFile(spec.Path, maxDrifted); err != nil {
			have.Content = nil
		}
		have.Mode, have.UID, have.GID = entry.Mode, entry.UID, entry.GID
		if !entry.Owned {
			have.UID, have.GID = spec.UID, spec.GID
		}
		return &have, true
	case *resource.Directory:
		have := *spec
		entry, err := host.Stat(spec.Path)
		have.Mode, have.UID, have.GID = entry.Mode, entry.UID, entry.GID
		if !entry.Owned {
			have.UID, have.GID = spec.UID, spec.GID
		}
		return &have, err == nil && entry.Kind == apply.Directory
	case *resource.Symlink:
		have := *spec
		entry, err := host.Stat(spec.Path)
		have.Target = entry.Target
		return &have, err == nil && entry.Kind == apply.Symlink
	case *resource.Copy:
		entry, err := host.Stat(spec.Path)
		return spec, err == nil && entry.Kind == apply.RegularFile
	case *resource.Sysctl:
		have := *spec
		var err error
		have.Value, err = host.Sysctl(spec.Key)
		return &have, err == nil
	}
	return spec, true
}
