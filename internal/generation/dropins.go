package generation

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// dropInDirs are where administrators' drop-ins are (systemd.unit(5), "Unit File Load Path"): "systemctl edit" and
// "systemctl set-property" write them, for ever or until the next boot. A package's own are elsewhere.
var dropInDirs = []string{
	"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", resource.UnitDir, "/run/systemd/system",
}

// DropIn is a file that changes a unit.
type DropIn struct {
	Path, Unit string
}

// DropIns are the drop-ins of the current generation's units that neither it nor what was there before Slipway
// brought: somebody has made them since.
func (s *Store) DropIns() ([]DropIn, error) {
	current, _ := s.Current()
	r, err := s.record(current.Number)
	if err != nil {
		return nil, err
	}
	all, err := s.dropIns(r.Resources)
	return slices.DeleteFunc(all, func(d DropIn) bool { return slices.Contains(r.DropIns, d.Path) }), err
}

// dropIns are the drop-ins of a plan's units that the plan does not bring, sorted.
func (s *Store) dropIns(plan resource.Plan) ([]DropIn, error) {
	brought := make(map[string]bool)
	for _, res := range plan.Resources {
		brought[res.Spec.Name()] = true
	}
	var list []DropIn
	var errs []error
	for _, unit := range unitsOf(plan) {
		for _, dir := range dropInDirs {
			dir += "/" + unit + ".d"
			names, err := s.host.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			for _, name := range names {
				if path := dir + "/" + name; strings.HasSuffix(name, ".conf") && !brought[path] {
					list = append(list, DropIn{path, unit})
				}
			}
		}
	}
	return list, errors.Join(errs...)
}

// unitsOf are the units that a plan starts, or that it has the file of, sorted.
func unitsOf(plan resource.Plan) []string {
	var units []string
	for _, res := range plan.Resources {
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			units = append(units, spec.Unit)
		case *resource.File:
			if name, ok := strings.CutPrefix(spec.Path, resource.UnitDir+"/"); ok && !strings.Contains(name, "/") {
				units = append(units, name)
			}
		}
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// earlier are the drop-ins that are nobody's change of a plan: those that were there when a generation first had
// the unit. They are handed on from one generation to the next.
func (s *Store) earlier(plan resource.Plan) ([]string, error) {
	all, err := s.dropIns(plan)
	if err != nil {
		return nil, err
	}
	current, _ := s.Current()
	before, unread := s.record(current.Number)
	var paths []string
	for _, d := range all {
		known := unread == nil && slices.Contains(unitsOf(before.Resources), d.Unit)
		if !known || slices.Contains(before.DropIns, d.Path) {
			paths = append(paths, d.Path)
		}
	}
	return paths, nil
}
