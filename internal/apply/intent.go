package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// intent is what an apply is about to do: it is the engine's journal. It is recorded, durably, before the
// first file is staged, and removed when the units have been dealt with. A run that dies in between is
// finished by the next one, which would otherwise leave staged files behind, take names for durable that
// are not, and find files right without restarting what has not read them.
type intent struct {
	// Reload says that unit files change.
	Reload bool `json:"reload,omitempty"`
	// Restarts are the units to restart, sorted.
	Restarts []string `json:"restarts,omitempty"`
	// Paths are the names that change, sorted.
	Paths []string `json:"paths,omitempty"`
}

func (i *intent) empty() bool { return !i.Reload && len(i.Restarts)+len(i.Paths) == 0 }

// unitName is the name of a unit (systemd.unit(5)).
var unitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`) })

// check wants a record that says what was left to do, and of which units.
func (i *intent) check() error {
	if i.empty() {
		return errors.New("says nothing")
	}
	for _, unit := range i.Restarts {
		if !unitName().MatchString(unit) {
			return errors.New("names something that is no unit")
		}
	}
	for _, name := range i.Paths {
		if place.Check(name) != "" {
			return errors.New("names something that is no place for a plan")
		}
	}
	return nil
}

// unitDirs are where systemd reads what a plan changes, and what a repair removes (systemd.unit(5)).
var unitDirs = []string{resource.UnitDir + "/", "/etc/systemd/system.control/", "/run/systemd/"}

func (i *intent) add(wrong []difference) {
	// The earlier run's record stays as it was.
	i.Restarts, i.Paths = slices.Clone(i.Restarts), slices.Clone(i.Paths)
	for _, d := range wrong {
		for _, dir := range unitDirs {
			i.Reload = i.Reload || strings.HasPrefix(d.Spec.Name(), dir)
		}
		if f, ok := d.Spec.(*resource.File); !ok || !f.Temporary() || d.action != Removed {
			i.Restarts = append(i.Restarts, d.Restarts...) // who reads it has something better now, if it is over
		}
		i.Paths = append(i.Paths, d.Spec.Name())
	}
	slices.Sort(i.Restarts)
	i.Restarts = slices.Compact(i.Restarts)
	slices.Sort(i.Paths)
	i.Paths = slices.Compact(i.Paths)
}

// recover takes up what an earlier run left undone. A record that cannot be read stands for the
// worst: everything is reloaded and restarted.
func (r *run) recover() error {
	entry, err := r.Host.Stat(state.Intent.Path)
	if err != nil || entry.Kind == Absent {
		return err
	}
	data, err := state.Intent.Read(r.Host)
	if err == nil {
		err = json.Unmarshal(data, &r.earlier)
	}
	if err == nil {
		err = r.earlier.check()
	}
	if err != nil {
		r.Log.Warn("cannot read the record of an unfinished apply; restarting every unit", "path", state.Intent.Path, "error", err)
		r.earlier = r.worst()
	}
	r.recovered = true
	return nil
}

// worst is what an earlier run may have left undone at most.
func (r *run) worst() intent {
	all := intent{Reload: true}
	for _, res := range slices.Concat(r.plan.Resources, r.Stale) {
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			all.Restarts = append(all.Restarts, spec.Unit)
		case *resource.File, *resource.Directory, *resource.Symlink:
			all.Paths = append(all.Paths, spec.Name())
		}
	}
	return all
}

// clean removes what an earlier run staged and did not bring into place, and sees to it that the names it
// changed are made durable.
func (r *run) clean() error {
	// A run that died while it wrote its record has left a part of that.
	if err := r.Host.Unstage(state.Intent.Path); err != nil {
		return err
	}
	for _, name := range r.earlier.Paths {
		parent, err := r.Host.Stat(path.Dir(name))
		if err != nil {
			return err
		}
		if parent.Kind != Directory && parent.Kind != Symlink {
			continue // the record is damaged, or somebody else has been here since
		}
		switch err := r.Host.Unstage(name); {
		case err == nil:
			r.Host.Renamed(name)
		case parent.Kind == Directory:
			return err
		default: // the link leads to no directory
			r.Log.Warn("what an earlier apply has staged cannot be removed", "path", name, "error", err)
		}
	}
	return nil
}

// takeBack restores the record as it was, where nothing was changed.
func (r *run) takeBack() {
	r.intent = r.earlier
	write := r.announce
	if r.intent.empty() {
		write = r.forget
	}
	if err := write(); err != nil {
		r.Log.Warn("cannot remove the record of this apply; the next apply restarts more than it needs to", "path", state.Intent.Path, "error", err)
	}
}

// announce records the intent.
func (r *run) announce() error {
	if r.intent.empty() {
		return nil
	}
	data, err := json.Marshal(r.intent)
	if err != nil {
		return err
	}
	file, err := state.Intent.With(append(data, '\n'))
	if err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	if err := r.Host.Stage(file); err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	if err := r.Host.Commit(state.Intent.Path); err != nil {
		return errors.Join(fmt.Errorf("record the intent: %w", err), r.Host.Unstage(state.Intent.Path))
	}
	if err := r.Host.Sync(); err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	return nil
}

// done removes the record: units are as planned.
func (r *run) done() error {
	if r.intent.empty() {
		return nil
	}
	if err := r.forget(); err != nil {
		return fmt.Errorf("remove the record of the intent: %w", err)
	}
	return nil
}

// forget removes the record.
func (r *run) forget() error {
	if err := r.Host.Remove(state.Intent.Path); err != nil {
		return err
	}
	return r.Host.Sync()
}

// owe shortens the record, after a failure, to what is left to do, so that the next run does not
// restart again what runs well. A record that cannot be shortened stands: more is done then, and
// nothing is lost.
func (r *run) owe() {
	left := intent{Restarts: slices.DeleteFunc(slices.Clone(r.intent.Restarts), r.settled)}
	if r.intent.empty() || !r.intent.Reload && len(r.intent.Paths) == 0 && len(left.Restarts) == len(r.intent.Restarts) {
		return
	}
	r.intent = left
	write := r.announce
	if left.empty() {
		write = r.forget
	}
	if err := write(); err != nil {
		r.Log.Warn("cannot shorten the record of this apply; the next apply restarts more than it needs to", "path", state.Intent.Path, "error", err)
	}
}

// restarts reports whether a unit's inputs changed.
func (i *intent) restarts(unit string) bool {
	_, found := slices.BinarySearch(i.Restarts, unit)
	return found
}
