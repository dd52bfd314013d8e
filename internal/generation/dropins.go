package generation

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// dropInDirs are where administrators' drop-ins are (systemd.unit(5), "Unit File Load Path"): "systemctl edit" and
// "systemctl set-property" write them, for ever or until the next boot. What a package or a distribution ships is below
// /usr, also for all units of a type, such as Fedora's service.d/10-timeout-abort.conf: that is nobody's change.
var dropInDirs = []string{
	"/etc/systemd/system.control", runtimeProperties, "/run/systemd/transient", resource.UnitDir, "/run/systemd/system",
}

// runtimeProperties is where systemd keeps the properties of units that are set until the next boot. Those of a slice are
// the kubelet's: it sets the limits of a reserved control group when it starts (k8s.io/kubernetes v1.36.3
// pkg/kubelet/cm/node_container_manager_linux.go, enforceExistingCgroup).
const runtimeProperties = "/run/systemd/system.control"

// dropInNames are the directories, by their last names, that systemd takes a unit's drop-ins from (systemd.unit(5)): its
// own, those of its template, and those of each prefix that ends in a dash. shared is that of all units of its type.
func dropInNames(unit string) (own []string, shared string) {
	dot := strings.LastIndexByte(unit, '.')
	if dot < 0 {
		return nil, "" // no name of a unit
	}
	name, suffix := unit[:dot], unit[dot:]
	prefix, instance, templated := strings.Cut(name, "@")
	for {
		if templated {
			own = append(own, prefix+"@"+instance+suffix+".d")
		}
		switch {
		case !templated:
			own = append(own, prefix+suffix+".d")
		case instance != "":
			own = append(own, prefix+"@"+suffix+".d")
		}
		dash := strings.LastIndexByte(strings.TrimRight(prefix, "-"), '-')
		if dash < 1 {
			return own, suffix[1:] + ".d"
		}
		prefix = prefix[:dash+1]
	}
}

// DropIn is a file that changes units.
type DropIn struct {
	Path string
	// Units are those of the plan that it changes, sorted.
	Units []string
	// Shared says that it changes all units of a type, and so more than Slipway's.
	Shared bool
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

// dropIns are the drop-ins of a plan's units that the plan does not bring, in a fixed order.
func (s *Store) dropIns(plan resource.Plan) ([]DropIn, error) {
	brought := make(map[string]bool)
	for _, res := range plan.Resources {
		brought[res.Spec.Name()] = true
	}
	found := make(map[string]DropIn) // by the directory's last name
	for _, unit := range unitsOf(plan) {
		own, shared := dropInNames(unit)
		for _, name := range append(own, shared) {
			if name == "" {
				continue
			}
			found[name] = DropIn{Units: append(found[name].Units, unit), Shared: name == shared}
		}
	}
	var list []DropIn
	var errs []error
	for _, of := range slices.Sorted(maps.Keys(found)) {
		for _, dir := range dropInDirs {
			if dir == runtimeProperties && strings.HasSuffix(of, ".slice.d") {
				continue
			}
			dir += "/" + of
			names, err := s.host.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			for _, name := range names {
				if path := dir + "/" + name; strings.HasSuffix(name, ".conf") && !brought[path] {
					list = append(list, DropIn{path, found[of].Units, found[of].Shared})
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
	var had []string
	if unread == nil {
		had = unitsOf(before.Resources)
	}
	for _, d := range all {
		known := slices.ContainsFunc(d.Units, func(unit string) bool { return slices.Contains(had, unit) })
		if !known || slices.Contains(before.DropIns, d.Path) {
			paths = append(paths, d.Path)
		}
	}
	return paths, nil
}
