package apply

import (
	"encoding/json"
	"fmt"
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

func (i *intent) add(wrong []difference) {
	for _, d := range wrong {
		if strings.HasPrefix(d.Spec.Name(), unitDir) {
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
	if err != nil {
		r.Log.Warn("record of an unfinished apply cannot be read; every unit is restarted", "path", intentPath, "error", err)
		r.intent = intent{Reload: true}
		for _, res := range r.plan.Resources {
			if unit, ok := res.Spec.(*resource.Unit); ok {
				r.intent.Restarts = append(r.intent.Restarts, unit.Unit)
			}
		}
	}
	slices.Sort(r.intent.Restarts)
	r.Log.Info("an earlier apply was interrupted; finishing it", "restarts", r.intent.Restarts)
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
		return fmt.Errorf("record the intent: %w", err)
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
	if err := r.Host.Remove(intentPath); err != nil {
		return fmt.Errorf("remove the record of the intent: %w", err)
	}
	return r.Host.Sync()
}

// restarts tells whether a unit's inputs changed.
func (i *intent) restarts(unit string) bool {
	_, found := slices.BinarySearch(i.Restarts, unit)
	return found
}
