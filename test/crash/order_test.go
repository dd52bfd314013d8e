//go:build failpoint

package crash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// history is when each thing was done last, over all runs on a machine; the first has number 1.
type history struct {
	length  int
	changed map[string]int // a path: its last change
	started map[string]int // a unit: its last start or restart
	first   map[string]int // a unit: its first start
	reload  int            // the last daemon-reload
}

// history returns the history of the node's runs. Units that were running before count as started at 0.
func (n *node) history() history {
	h := history{changed: map[string]int{}, started: map[string]int{}, first: map[string]int{}}
	for _, run := range n.runs {
		for i := range run.events {
			h.length++
			if e := &run.events[i]; e.done {
				h.note(e)
			}
		}
	}
	return h
}

func (h *history) note(e *event) {
	switch e.Kind {
	case "start", "restart":
		h.started[e.Path] = h.length
		if h.first[e.Path] == 0 {
			h.first[e.Path] = h.length
		}
	case "daemon-reload":
		h.reload = h.length
	case "rename":
		h.changed[e.Path], h.changed[e.To] = h.length, h.length
	case "link":
		h.changed[e.To] = h.length
	case "create", "write", "chmod", "chown", "unlink", "symlink", "truncate":
		h.changed[e.Path] = h.length
	}
}

// restarted checks that every unit has read its present inputs: it was started or restarted after the last change of each. If
// systemd had a unit in memory, systemd was reloaded before.
func (n *node) restarted() error {
	h := n.history()
	wasActive, err := n.found.machine()
	if err != nil {
		return err
	}
	units := make(map[string]bool)
	for _, r := range n.plan.Resources {
		if u, ok := r.Spec.(*resource.Unit); ok {
			units[u.Unit] = true
		}
	}
	known := func(at int) bool { // systemd has one of the units in memory
		for unit := range units {
			if wasActive.active[unit] || h.first[unit] != 0 && h.first[unit] < at {
				return true
			}
		}
		return false
	}
	var errs []error
	for _, r := range n.plan.Resources {
		at := h.changed[r.Spec.Name()]
		if at == 0 || n.retires(r.Spec.Name()) && !n.written(r.Spec.Name()) { // no unit needs a restart for a file that is removed
			continue
		}
		for _, unit := range r.Restarts {
			switch {
			case !units[unit]:
			case h.started[unit] < at:
				errs = append(errs, fmt.Errorf("%s was last started at %d, and its input %s changed at %d", unit, h.started[unit], r.Spec.Name(), at))
			case strings.HasPrefix(r.Spec.Name(), resource.UnitDir+"/") && known(at) && (h.reload < at || h.reload > h.started[unit]):
				errs = append(errs, fmt.Errorf("%s was last started at %d, its file %s changed at %d, and systemd was last reloaded at %d",
					unit, h.started[unit], r.Spec.Name(), at, h.reload))
			}
		}
	}
	return errors.Join(errs...)
}
