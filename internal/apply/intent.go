package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// intent is what changed files mean for systemd. It is recorded, durably, before the first of them is
// renamed, and removed when the units have been dealt with: a run that dies in between is finished
// by the next one, which finds the files right and would otherwise restart nothing.
type intent struct {
	// Reload says that unit files changed.
	Reload bool `json:"reload,omitempty"`
	// Restarts are the units to restart, sorted.
	Restarts []string `json:"restarts,omitempty"`
}

func (i *intent) empty() bool { return !i.Reload && len(i.Restarts) == 0 }

// unitName is the name of a unit (systemd.unit(5)).
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`)

// check wants a record that says what was left to do, and of which units.
func (i *intent) check() error {
	if i.empty() {
		return errors.New("says nothing")
	}
	for _, unit := range i.Restarts {
		if !unitName.MatchString(unit) {
			return errors.New("names something that is no unit")
		}
	}
	return nil
}

func (i *intent) add(wrong []difference) {
	for _, d := range wrong {
		if strings.HasPrefix(d.Spec.Name(), resource.UnitDir+"/") {
			i.Reload = true
		}
		i.Restarts = append(i.Restarts, d.Restarts...)
	}
	slices.Sort(i.Restarts)
	i.Restarts = slices.Compact(i.Restarts)
}

// maxIntent bounds the record that is read.
const maxIntent = 64 << 10

// recover takes up what an earlier run left undone. A record that cannot be read stands for the
// worst: everything is reloaded and restarted.
func (r *run) recover() error {
	entry, err := r.Host.Stat(intentPath)
	if err != nil || entry.Kind == Absent {
		return err
	}
	data, err := r.Host.ReadFile(intentPath, maxIntent)
	if err == nil {
		err = json.Unmarshal(data, &r.intent)
	}
	if err == nil {
		err = r.intent.check()
	}
	if err != nil {
		r.Log.Warn("record of an unfinished apply cannot be read; every unit is restarted", "path", intentPath, "error", err)
		r.intent = intent{Reload: true}
		for _, res := range r.plan.Resources {
			if unit, ok := res.Spec.(*resource.Unit); ok {
				r.intent.Restarts = append(r.intent.Restarts, unit.Unit)
			}
		}
	}
	r.recovered = true
	return nil
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
	file := &resource.File{Path: intentPath, Mode: 0o600, Content: append(data, '\n')}
	if err := r.Host.Stage(file); err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	if err := r.Host.Commit(intentPath); err != nil {
		return errors.Join(fmt.Errorf("record the intent: %w", err), r.Host.Unstage(intentPath))
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

// forget removes the record, and what a run that died while it wrote one has left of it.
func (r *run) forget() error {
	if err := r.Host.Remove(intentPath); err != nil {
		return err
	}
	if r.recovered {
		if err := r.Host.Unstage(intentPath); err != nil {
			return err
		}
	}
	return r.Host.Sync()
}

// owe shortens the record, after a failure, to what is left to do, so that the next run does not
// restart again what runs well. A record that cannot be shortened stands: more is done then, and
// nothing is lost.
func (r *run) owe() {
	left := intent{Restarts: slices.DeleteFunc(slices.Clone(r.intent.Restarts), r.settled)}
	if r.intent.empty() || !r.intent.Reload && len(left.Restarts) == len(r.intent.Restarts) {
		return
	}
	r.intent = left
	write := r.announce
	if left.empty() {
		write = r.forget
	}
	if err := write(); err != nil {
		r.Log.Warn("record of the intent cannot be shortened; the next apply restarts more than it needs to", "path", intentPath, "error", err)
	}
}

// restarts tells whether a unit's inputs changed.
func (i *intent) restarts(unit string) bool {
	_, found := slices.BinarySearch(i.Restarts, unit)
	return found
}
