package agent

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
)

// maxDrifted bounds a file whose content is shown beside what it should be.
const maxDrifted = 1 << 20

// Drift reports what is not as the current generation has it: what an apply of it would change, and what it would leave,
// because it is somebody's decision or because it takes more.
func (a *Agent) Drift(ctx context.Context) (changes []apply.Change, err error) {
	err = a.guarded(func() (err error) { changes, _, err = a.drift(ctx); return err })
	return changes, err
}

// DriftDifference is Drift, and how the machine differs from the current generation's plan: from what is there to
// what should be, with what it takes to repair it.
func (a *Agent) DriftDifference(ctx context.Context) (changes []apply.Change, d *difference.Difference, err error) {
	err = a.guarded(func() error {
		var desired resource.Plan
		changes, desired, err = a.drift(ctx)
		if err == nil && len(changes) > 0 {
			d, err = difference.Of(a.actual(desired, changes), desired)
		}
		return err
	})
	return changes, d, err
}

func (a *Agent) drift(ctx context.Context) ([]apply.Change, resource.Plan, error) {
	store, err := generation.Open(a.Host, a.Log)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	current, found := store.Current()
	if !found {
		return nil, resource.Plan{}, outcome.Refused("this machine has no generation yet")
	}
	desired, err := store.Plan(current.Number)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	masked, err := a.masked(desired)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	foreign, err := a.foreign(store, masked)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	desired = without(desired, masked)
	engine := a.engine()
	report, err := engine.Preview(ctx, desired)
	return append(report.Changes, foreign...), desired, err
}

// actual is a plan with what is on the machine in the place of what has changed.
func (a *Agent) actual(desired resource.Plan, changes []apply.Change) resource.Plan {
	actual := desired
	actual.Resources = nil
	for _, r := range desired.Resources {
		there := true
		if slices.ContainsFunc(changes, func(c apply.Change) bool { return c.ID == r.ID() }) {
			r.Spec, there = a.found(r.Spec)
		}
		if there {
			actual.Resources = append(actual.Resources, r)
		}
	}
	return actual
}

// found is what is on the machine in a resource's place, and whether it is a thing of that kind. Of what is no file and
// no kernel parameter, such as a unit, there is no more to say than that an apply would change it.
func (a *Agent) found(spec resource.Spec) (resource.Spec, bool) {
	switch spec := spec.(type) {
	case *resource.File:
		have := *spec
		entry, err := a.Host.Stat(spec.Path)
		if err != nil || entry.Kind != apply.RegularFile {
			return spec, false
		}
		if have.Content, err = a.Host.ReadFile(spec.Path, maxDrifted); err != nil {
			have.Content = nil
		}
		have.Mode, have.UID, have.GID = entry.Mode, entry.UID, entry.GID
		if !entry.Owned {
			have.UID, have.GID = spec.UID, spec.GID
		}
		return &have, true
	case *resource.Directory:
		have := *spec
		entry, err := a.Host.Stat(spec.Path)
		have.Mode, have.UID, have.GID = entry.Mode, entry.UID, entry.GID
		if !entry.Owned {
			have.UID, have.GID = spec.UID, spec.GID
		}
		return &have, err == nil && entry.Kind == apply.Directory
	case *resource.Symlink:
		have := *spec
		entry, err := a.Host.Stat(spec.Path)
		have.Target = entry.Target
		return &have, err == nil && entry.Kind == apply.Symlink
	case *resource.Sysctl:
		have := *spec
		var err error
		have.Value, err = a.Host.Sysctl(spec.Key)
		return &have, err == nil
	}
	return spec, true
}
