package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/machineboot"
)

// Event is a point on a machine's way to a node.
type Event struct {
	Name string `json:"name"`
	// At is in seconds since QEMU's start.
	At float64 `json:"seconds"`
}

// bootTimeline is the machine's boot, as its own records and the test have it.
type bootTimeline struct {
	// Events are the events of the machine, the API server and the test, by the test's clock.
	Events []Event
	// Anatomy is the timeline from the machine's records. It is nil if they could not be got.
	Anatomy *anatomy.Timeline
	// Differences are how the timeline differs from what the test saw from outside.
	Differences []machineboot.Difference
}

// timeline merges the events of the machine, the API server and the test, by the test's clock.
func (r *caseRun) timeline(ctx context.Context) bootTimeline {
	var b bootTimeline
	registered, ready := r.node.times()
	at := make(map[string]time.Time)
	kernel, err := machineboot.KernelStart(ctx, r.vm)
	if err == nil {
		b.Anatomy, err = machineboot.Read(ctx, r.vm, statusPath)
	}
	if err != nil {
		r.Log.Warn("the machine reports no times", "case", r.Name, "error", err)
	} else {
		at = machineboot.Moments(b.Anatomy, kernel)
		b.Differences = machineboot.Compare(b.Anatomy, kernel, r.node.requests, registered, ready)
		for _, d := range b.Differences {
			r.Log.Info("seen from outside", "case", r.Name, "event", d.Event, "later by ms", d.LaterMs)
		}
	}
	b.Events = placeEvents(at, r.vm.Started, registered, ready)
	return b
}

// agentTime is how long the timeline waits for the agent's end after the Node is Ready. After that it omits the agent's steps.
const agentTime Boots = 3

// agentEnded waits until the agent's unit has ended, if it runs: the agent writes its steps at its end, and a Node can be Ready
// earlier.
func (r *caseRun) agentEnded(ctx context.Context) {
	ctx, cancel := r.Pace.Within(ctx, agentTime)
	defer cancel()
	for {
		pid, err := r.vm.Shell.Output(ctx, "systemctl show -P MainPID slipway-provision.service")
		if pid = strings.TrimSpace(pid); err == nil && (pid == "0" || pid == "") {
			return
		}
		if errors.Is(err, lab.ErrNoShell) { // a machine whose Node is Ready would have one
			return
		}
		select {
		case <-ctx.Done():
			r.Log.Warn("the timeline is taken while the agent still runs", "case", r.Name, "error", errors.Join(err, context.Cause(ctx)))
			return
		case <-time.After(time.Second):
		}
	}
}

// placeEvents sorts the machine's times and the test's own.
func placeEvents(at map[string]time.Time, started, registered, ready time.Time) []Event {
	events := []Event{{Name: "QEMU start"}}
	add := func(name string, t time.Time) {
		// A machine that was saved, or rebooted, has earlier events.
		if !t.Before(started) {
			events = append(events, Event{name, float64(t.Sub(started).Milliseconds()) / 1000})
		}
	}
	for name, t := range at {
		add(name, t)
	}
	add("Node registered", registered)
	add("Node Ready", ready)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name)) })
	return events
}

// Times are the seconds of a timeline's events, by name.
func Times(events []Event) map[string]float64 {
	at := make(map[string]float64)
	for _, e := range events {
		at[e.Name] = e.At
	}
	return at
}

// PrintTimeline prints a timeline as a table.
func PrintTimeline(w io.Writer, o Outcome) {
	fmt.Fprintf(w, "\n%s\n", o.Case)
	for i, e := range o.Timeline {
		step := 0.0
		if i > 0 {
			step = e.At - o.Timeline[i-1].At
		}
		fmt.Fprintf(w, "  %7.2f s  +%6.2f  %s\n", e.At, step, e.Name)
	}
}
