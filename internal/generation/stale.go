package generation

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"sort"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Stale returns the resources of earlier generations that a plan does not replace: removed are those to remove, and
// restored are files from before Slipway to write again.
func (s *Store) Stale(plan resource.Plan) (removed, restored []resource.Resource) {
	taken := make(map[string]bool)
	planned := make(map[resource.ID]bool)
	for _, res := range plan.Resources {
		planned[res.ID()] = true
		take(taken, res.Spec)
	}
	if begun := s.records[s.begun]; begun != nil {
		for _, res := range begun.Resources.Resources {
			take(taken, res.Spec) // the plan still has it, with a credential that may still be needed
		}
	}
	for _, r := range s.unsettled() {
		for _, res := range r.brought {
			switch name := res.Spec.Name(); {
			case !resource.Undone(res.Spec):
				continue
			case isWhole(res.Spec):
				if taken[name] {
					continue
				}
				taken[name] = true
				if original, found := r.original(name); found {
					restored = append(restored, resource.Resource{
						Phase: res.Phase, Effects: res.Effects, Reason: "was there before Slipway", Spec: original.spec(),
					})
					continue
				}
			default:
				if planned[res.ID()] {
					continue
				}
				planned[res.ID()] = true
			}
			removed = append(removed, res)
		}
	}
	return removed, restored
}

// isWhole reports whether a resource is everything at its path: a file, a directory or a link, and not a part of a
// shared file.
func isWhole(spec resource.Spec) bool {
	return resource.OnDisk(spec) && !resource.KindOf(spec).Part
}

// take adds the paths of a resource.
func take(taken map[string]bool, spec resource.Spec) {
	for _, path := range spec.Paths() {
		taken[path] = true
	}
}

// unsettled is a generation that may have left resources on the machine.
type unsettled struct {
	*record
	// brought are the resources that it may have created, and those that may be left from earlier ones.
	brought []resource.Resource
}

// unsettled are the generations that may have left resources on the machine: the current one, and earlier ones back to
// the last that was applied completely. The newest is first.
func (s *Store) unsettled() []unsettled {
	var list []unsettled
	for _, e := range slices.Backward(s.entries) {
		// A damaged record is skipped: its resources are unknown, and stay.
		if r, err := s.record(e.Number); err == nil {
			brought := r.Resources.Resources
			if e.Outcome != Good {
				brought = slices.Concat(brought, r.Left)
			}
			list = append(list, unsettled{r, brought})
		}
		if e.Outcome == Good {
			break
		}
	}
	return list
}

// left are the resources that a plan leaves behind, which its record repeats: those that are stale, except those that
// are gone from the machine. A file from before Slipway is represented by the resource that replaced it.
func (s *Store) left(plan resource.Plan) ([]resource.Resource, error) {
	removed, restored := s.Stale(plan)
	var list []resource.Resource
	var errs []error
	for i, res := range slices.Concat(removed, restored) {
		gone, err := s.gone(res.Spec)
		if err == nil && i >= len(removed) {
			gone, err = s.back(res.Spec)
		}
		errs = append(errs, err)
		if gone {
			continue
		}
		if f, ok := res.Spec.(*resource.File); ok {
			file := *f
			file.Content = nil
			res.Spec = &file
		}
		list = append(list, res)
	}
	if over := len(list) - maxLeft; over > 0 {
		s.log.Warn("too much is left of earlier generations to remember everything; the rest is no longer removed", "forgotten", over)
		list = list[:maxLeft]
	}
	return list, errors.Join(errs...)
}

// gone reports whether a resource has completely disappeared from the disk. A resource that is not on the disk, such as
// a unit, counts as existing: if it does not exist, undoing it does nothing.
func (s *Store) gone(spec resource.Spec) (bool, error) {
	if !resource.OnDisk(spec) {
		return false, nil
	}
	have, err := s.host.Stat(spec.Paths()[0])
	return err == nil && have.Kind == apply.Absent, err
}

// back reports whether a file from before Slipway is there again.
func (s *Store) back(spec resource.Spec) (bool, error) {
	have, found, err := s.readOriginal(spec.Name(), maxOriginal)
	if err != nil || !found {
		return false, err
	}
	return reflect.DeepEqual(have.spec(), spec), nil
}

func (r *record) original(path string) (original, bool) {
	for _, o := range r.Originals {
		if o.Path == path {
			return o, true
		}
	}
	return original{}, false
}

// originals are the files from before Slipway at all paths of a plan, and of what is left of earlier generations.
func (s *Store) originals(plan resource.Plan, left []resource.Resource) ([]original, error) {
	wanted := make(map[string]bool)
	for _, res := range slices.Concat(plan.Resources, left) {
		wanted[res.Spec.Name()] = true
	}
	known := make(map[string]bool)
	var list []original
	for _, r := range s.unsettled() {
		for _, res := range r.brought {
			name := res.Spec.Name()
			if o, found := r.original(name); found && wanted[name] && !known[name] {
				list = append(list, o)
			}
			known[name] = true
		}
	}
	size := 0
	for _, o := range list {
		size += len(o.Content)
	}
	var errs []error
	for _, res := range plan.Resources {
		switch spec := res.Spec.(type) {
		case *resource.File:
			if spec.Temporary() {
				continue // the original may be a credential, which is not recorded either
			}
		case *resource.Symlink:
		default:
			continue
		}
		name := res.Spec.Name()
		if known[name] {
			continue
		}
		known[name] = true
		o, found, err := s.readOriginal(name, min(maxOriginal, int64(maxOriginals-size)))
		errs = append(errs, err)
		if found {
			list = append(list, o)
			size += len(o.Content)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list, errors.Join(errs...)
}

// readOriginal reads an original. A file that is larger than the limit is not kept: Slipway replaces it for good.
func (s *Store) readOriginal(path string, limit int64) (original, bool, error) {
	have, err := s.host.Stat(path)
	if err != nil {
		return original{}, false, err
	}
	o := original{Path: path, Kind: have.Kind, Mode: have.Mode, UID: have.UID, GID: have.GID, Target: have.Target}
	switch have.Kind {
	case apply.Symlink:
		o.Mode = 0
		return o, true, nil
	case apply.RegularFile:
	default:
		return original{}, false, nil
	}
	if have.Size > limit {
		s.log.Warn("a file is too large to keep; it is replaced and cannot be restored", "path", path, "bytes", have.Size)
		return original{}, false, nil
	}
	o.Content, err = s.host.ReadFile(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return original{}, false, nil
	}
	return o, err == nil, err
}
