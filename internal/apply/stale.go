package apply

import (
	"errors"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareStale finds what earlier plans brought that is still there and that this one has nothing of.
// Where something else has taken its place, such as a directory, it is somebody else's, and left alone.
func (r *run) compareStale() error {
	planned := make(map[string]bool)
	for _, res := range r.plan.Resources {
		planned[res.Spec.Name()] = true
	}
	var errs []error
	for _, res := range r.Stale {
		switch res.Spec.(type) {
		case *resource.File, *resource.Symlink:
		default:
			continue
		}
		path := res.Spec.Name()
		if planned[path] {
			continue
		}
		have, err := r.Host.Stat(path)
		switch {
		case err != nil:
			errs = append(errs, failed(res, err))
		case have.Kind == RegularFile, have.Kind == Symlink:
			r.wrong = append(r.wrong, difference{res, Removed})
			r.changed(res.ID(), Removed)
		}
	}
	return errors.Join(errs...)
}

// prune removes what should be gone, and after it the directories of earlier plans that are empty then.
// A directory that holds something is somebody else's too.
func (r *run) prune() error {
	var errs []error
	for _, d := range r.wrong {
		if d.action == Removed {
			errs = appendFailure(errs, d.Resource, r.remove(d.Spec))
		}
	}
	var directories []resource.Resource
	for _, res := range r.dropped() {
		if _, ok := res.Spec.(*resource.Directory); ok {
			directories = append(directories, res)
		}
	}
	// Those within others first.
	slices.SortFunc(directories, func(a, b resource.Resource) int { return strings.Compare(b.Spec.Name(), a.Spec.Name()) })
	for _, res := range directories {
		errs = appendFailure(errs, res, r.Host.RemoveDirectory(res.Spec.Name()))
	}
	return errors.Join(errs...)
}

// remove removes a file or link. What has taken its place is durable before: the kubelet syncs neither its
// certificate nor its kubeconfig, and after a power cut there would be neither those nor what it joined with.
func (r *run) remove(spec resource.Spec) error {
	if f, ok := spec.(*resource.File); ok {
		for _, path := range f.Until {
			if err := r.Host.SyncFileSystem(path); err != nil {
				return err
			}
		}
	}
	return r.Host.Remove(spec.Name())
}

// staleUnits are the units that earlier plans started and that this one has nothing of.
func (r *run) staleUnits() []string {
	var units []string
	for _, res := range r.dropped() {
		if unit, ok := res.Spec.(*resource.Unit); ok {
			units = append(units, unit.Unit)
		}
	}
	return units
}

// dropped are the stale resources that the plan does not have.
func (r *run) dropped() []resource.Resource {
	if len(r.Stale) == 0 {
		return nil
	}
	planned := r.plan.ByID()
	return slices.DeleteFunc(slices.Clone(r.Stale), func(res resource.Resource) bool {
		_, has := planned[res.ID()]
		return has
	})
}
