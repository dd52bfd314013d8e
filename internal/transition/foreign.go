package transition

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// masked returns the units of a plan that were masked after it was applied, with the mask of each. A mask is an administrator's
// decision, which Slipway does not undo in silence. A unit that was masked before Slipway managed it is not included.
func masked(host Host, before resource.Plan) (map[string]string, error) {
	node := integrity.Of(before)
	return integrity.Masked(host, &node)
}

// findMasked notes which units of the current generation are masked. Nothing is read for a plan that is the current
// generation's own.
func (s *Step) findMasked(host Host, store *generation.Store) error {
	if s.asked {
		return nil
	}
	settled, err := s.settled(store)
	if err != nil {
		return err
	}
	before := s.Plan
	if !settled {
		current, found := store.Current()
		if !found {
			return nil
		}
		if before, err = store.Plan(current.Number); err != nil {
			return nil // what it had is not known
		}
	}
	s.masked, err = masked(host, before)
	s.asked = err == nil
	return err
}

// WantUnmasked wants no unit of a plan to be masked that the current generation has. The error has the exit code of
// the first that is.
func (s *Step) WantUnmasked(host Host, store *generation.Store) error {
	if err := s.findMasked(host, store); err != nil {
		return err
	}
	for _, res := range s.Plan.Resources {
		unit, ok := res.Spec.(*resource.Unit)
		if !ok {
			continue
		}
		if mask, ok := s.masked[unit.Unit]; ok {
			return &apply.Error{Resource: res.ID(), ExitCode: res.ExitCode, Err: fmt.Errorf("it is masked, and Slipway did not mask it: %s", unmask(unit.Unit, mask))}
		}
	}
	return nil
}

// unmask returns how to unmask a unit: "systemctl unmask" removes masks in two directories (systemctl(1)).
func unmask(unit, mask string) string {
	if dir := path.Dir(mask); dir != resource.UnitDir && dir != "/run/systemd/system" {
		return fmt.Sprintf("remove %s, then run \"systemctl daemon-reload\": that allows it to run again", mask)
	}
	return fmt.Sprintf("\"systemctl unmask %s\" allows it to run again", unit)
}

// added returns the removal of drop-ins and masks that others have made for Slipway's units. A drop-in for all units of a type, and
// one below /usr, concern more than Slipway, and stay.
func added(store *generation.Store) ([]resource.Resource, error) {
	found, err := store.Additions()
	var list []resource.Resource
	for i := range found {
		if removable(&found[i]) {
			list = append(list, resource.Resource{Phase: resource.Base, Effects: resource.Restarting(found[i].Units...), Spec: &resource.File{Path: found[i].Path}})
		}
	}
	return list, err
}

func removable(f *integrity.Finding) bool {
	return (f.Kind == integrity.KindDropIn || f.Kind == integrity.KindMask) && !f.Shared && !strings.HasPrefix(f.Path, "/usr/")
}

// without is a plan without some units, their files and the checks that want them to run. Each health check requires the
// one before it, so those after such a one go, too.
func without(plan resource.Plan, masked map[string]string) resource.Plan {
	units := slices.Collect(maps.Keys(masked))
	plan.Resources = slices.DeleteFunc(slices.Clone(plan.Resources), func(res resource.Resource) bool {
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			return slices.Contains(units, spec.Unit)
		case *resource.File:
			name, ok := strings.CutPrefix(spec.Path, resource.UnitDir+"/")
			return ok && slices.Contains(units, name)
		case *resource.Check:
			return slices.Contains(units, spec.UnitActive)
		}
		return false
	})
	stopped := slices.IndexFunc(plan.Health, func(res resource.Resource) bool {
		check, ok := res.Spec.(*resource.Check)
		return ok && slices.Contains(units, check.UnitActive)
	})
	if stopped >= 0 {
		plan.Health = plan.Health[:stopped:stopped]
	}
	return plan
}

// foreign returns drift that is an administrator's decision, or that no apply of the generation repairs. Its note names what
// repairs it.
func foreign(host Host, store *generation.Store, masked map[string]string) ([]apply.Change, error) {
	var changes []apply.Change
	for _, unit := range slices.Sorted(maps.Keys(masked)) {
		changes = append(changes, apply.Change{ID: resource.IDOf(&resource.Unit{Unit: unit}), Action: apply.Left,
			Note: "is masked: " + unmask(unit, masked[unit])})
	}
	found, err := store.Additions()
	for i := range found {
		f := &found[i]
		if f.Kind != integrity.KindMask || masked[f.Units[0]] != f.Path {
			changes = append(changes, apply.Change{ID: resource.IDOf(&resource.File{Path: f.Path}), Action: apply.Left, Note: undoing(f)})
		}
	}
	return append(changes, readdressed(host, store)...), err
}

// undoing returns how to undo an addition. "systemctl revert" also removes Slipway's own drop-ins of the unit, so it is not the way.
func undoing(f *integrity.Finding) string {
	units := strings.Join(f.Units, ", ")
	switch f.Kind {
	case integrity.KindDropIn:
		note := fmt.Sprintf("this file is not Slipway's and changes %s: to undo that, remove this file, then run \"systemctl daemon-reload\" and \"systemctl restart %s\"",
			units, strings.Join(f.Units, " "))
		if removable(f) {
			note += "; \"slipway-node watch --drift repair-all\" does the same"
		}
		return note
	case integrity.KindAttribute:
		return f.What + `: "getfattr -d -m -" shows it, and "setfattr -x" or "setfacl -b" removes it`
	case integrity.KindProgram, integrity.KindParent:
		return f.What + ": if that was not intended, make a new machine"
	}
	note := f.What + ": if that was not intended, remove it"
	if len(f.Units) > 0 {
		note += ", then restart " + units
	}
	if f.Acceptable() {
		note += "; if it was, name its path in checks.allowAdditions"
	}
	return note
}

// readdressed returns the addresses of the current generation's plan that the machine does not have any more.
func readdressed(host Host, store *generation.Store) []apply.Change {
	current, _ := store.Current()
	now := facts.NodeIPs(host)
	var changes []apply.Change
	for _, old := range strings.Fields(current.Addresses) {
		if identity.Readdressed([]string{old}, now) {
			changes = append(changes, apply.Change{ID: resource.ID("Address:" + old), Action: apply.Left,
				Note: fmt.Sprintf("the machine no longer has this address, it has %s: run \"slipway-node provision\" to plan the node again with the contract of its boot, or \"slipway-node apply --allow replace\" with another; this takes a restart of the kubelet and a new serving certificate", strings.Join(now, ", "))})
		}
	}
	return changes
}
