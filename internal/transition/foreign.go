package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// runtimeUnitDir is where "systemctl mask --runtime" puts its links; a unit in resource.UnitDir goes before it.
const runtimeUnitDir = "/run/systemd/system"

// masked are the units of a plan that somebody has masked since it was applied, sorted: that is an administrator's
// word, which nobody undoes in silence. A unit that was masked before Slipway had it is not among them.
func masked(host Host, before resource.Plan) ([]string, error) {
	own := make(map[string]bool)
	for _, res := range before.Resources {
		if f, ok := res.Spec.(*resource.File); ok && len(f.Content) > 0 {
			own[f.Path] = true
		}
	}
	var units []string
	var errs []error
	for _, res := range before.Resources {
		unit, ok := res.Spec.(*resource.Unit)
		if !ok {
			continue
		}
		places := []string{resource.UnitDir + "/" + unit.Unit}
		if !own[places[0]] {
			places = append(places, runtimeUnitDir+"/"+unit.Unit)
		}
		for _, place := range places {
			have, err := host.Stat(place)
			errs = append(errs, err)
			// systemd.unit(5): a link to /dev/null, or an empty file.
			if have.Target == "/dev/null" || have.Kind == apply.RegularFile && have.Size == 0 {
				units = append(units, unit.Unit)
				break
			}
		}
	}
	slices.Sort(units)
	return units, errors.Join(errs...)
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
		if unit, ok := res.Spec.(*resource.Unit); ok && slices.Contains(s.masked, unit.Unit) {
			return &apply.Error{Resource: res.ID(), ExitCode: res.ExitCode, Err: fmt.Errorf("somebody has masked it: %s", unmask(unit.Unit))}
		}
	}
	return nil
}

func unmask(unit string) string {
	return fmt.Sprintf("\"systemctl unmask %s\" allows it to run again", unit)
}

// added are the drop-ins that somebody has made of Slipway's units, to be removed. One of all units of a type is more
// than Slipway's concern, and stays.
func added(store *generation.Store) ([]resource.Resource, error) {
	dropIns, err := store.DropIns()
	var list []resource.Resource
	for _, d := range dropIns {
		if !d.Shared {
			list = append(list, resource.Resource{Phase: resource.Base, Effects: resource.Restarting(d.Units...), Spec: &resource.File{Path: d.Path}})
		}
	}
	return list, err
}

// without is a plan without some units, their files and the checks that want them to run. Each health check requires the
// one before it, so those after such a one go, too.
func without(plan resource.Plan, units []string) resource.Plan {
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

// foreign is the drift that is somebody's decision, or that no apply of the generation puts right: what it takes is
// said, and it is left.
func foreign(host Host, store *generation.Store, masked []string) ([]apply.Change, error) {
	var changes []apply.Change
	for _, unit := range masked {
		changes = append(changes, apply.Change{ID: resource.IDOf(&resource.Unit{Unit: unit}), Action: apply.Left,
			Note: "is masked: " + unmask(unit)})
	}
	dropIns, err := store.DropIns()
	for _, d := range dropIns {
		changes = append(changes, apply.Change{ID: resource.IDOf(&resource.File{Path: d.Path}), Action: apply.Left,
			Note: undoing(d)})
	}
	return append(changes, readdressed(host, store)...), err
}

// undoing says how a drop-in is undone. "systemctl revert" is not the way: it removes Slipway's own of the unit, too.
func undoing(d generation.DropIn) string {
	note := fmt.Sprintf("somebody changed %s with this file: to undo that, remove this file, then run \"systemctl daemon-reload\" and \"systemctl restart %s\"",
		strings.Join(d.Units, ", "), strings.Join(d.Units, " "))
	if !d.Shared {
		note += "; \"slipway-node watch --drift repair-all\" does the same"
	}
	return note
}

// readdressed are the addresses that the current generation was planned with and that the machine has no more.
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
