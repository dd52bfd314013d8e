package apply

import (
	"errors"
	"slices"
	"sort"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareStale finds what earlier plans created on the disk that still exists and that this plan does not have.
func (r *run) compareStale() error {
	planned := make(map[string]bool)
	for _, res := range r.plan.Resources {
		planned[res.Spec.Name()] = true
		if _, shared := res.Spec.(*resource.Block); shared {
			continue
		}
		for _, path := range res.Spec.Paths() {
			planned[path] = true
		}
	}
	var errs []error
	for _, res := range r.Stale {
		if !resource.OnDisk(res.Spec) || planned[res.Spec.Name()] || planned[res.Spec.Paths()[0]] {
			continue
		}
		action, err := diskKinds[res.Spec.Kind()].stale(r, res.Spec)
		switch {
		case err != nil:
			errs = append(errs, failed(res, err))
		case action != "":
			r.wrong = append(r.wrong, difference{res, action})
			r.changed(res.ID(), action)
		}
	}
	return errors.Join(errs...)
}

// staleFile reports whether a file or link must be removed.
func staleFile(r *run, spec resource.Spec) (Action, error) {
	have, err := r.Host.Stat(spec.Name())
	if err == nil && (have.Kind == RegularFile || have.Kind == Symlink) {
		return Removed, nil
	}
	return "", err
}

// leftToPrune is for directories: prune removes them when they are empty, after their content.
func leftToPrune(*run, resource.Spec) (Action, error) { return "", nil }

// prune removes stale files, and then the directories of earlier plans that have become empty. If a directory has other
// files, it stays.
func (r *run) prune() error {
	var errs []error
	for _, d := range r.wrong {
		if _, shared := d.Spec.(*resource.Block); d.action == Removed && !shared {
			errs = appendFailure(errs, d.Resource, r.remove(d.Spec))
		}
	}
	for _, path := range r.emptied {
		errs = append(errs, r.Host.Remove(path))
	}
	var directories []resource.Resource
	for _, res := range r.dropped() {
		if _, ok := res.Spec.(*resource.Directory); ok {
			directories = append(directories, res)
		}
	}
	// Inner directories come first.
	sort.SliceStable(directories, func(i, j int) bool { return directories[i].Spec.Name() > directories[j].Spec.Name() })
	for _, res := range directories {
		errs = appendFailure(errs, res, r.Host.RemoveDirectory(res.Spec.Name()))
	}
	return errors.Join(errs...)
}

// remove removes a file or link. First its replacement is made durable: the kubelet syncs neither its certificate nor
// its kubeconfig, and a power cut could lose both these and the credential that it joined with.
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
