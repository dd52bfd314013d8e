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
	"github.com/slipway-dev/slipway/test/e2e/classic"
)

// Event is a point on a machine's way to a node.
type Event struct {
	Name string `json:"name"`
	// At is in seconds since QEMU's start.
	At float64 `json:"seconds"`
}

// The parts of a timeline that an event of a case is.
type part int

const (
	happens part = iota // an event
	begins              // the start of a span
	ends                // the end of a span
	written             // the last change of a file
)

// moments are the events of a case, by the event or span of the boot's timeline. A step of the agent is an event only if the agent has it:
// those of the join exist if the agent requests the kubelet's certificate.
var moments = []struct {
	event string
	part  part
	name  string
}{
	{"systemd", begins, "systemd"},
	{"boot finished", happens, "boot finished"},
	{"local file systems", happens, "local file systems"},
	{"sysinit", ends, "sysinit.target"},
	{"networkd", begins, "systemd-networkd.service"},
	{"address given", happens, "address given"},
	{"network online", happens, "network online"},
	{"cloud-init local", begins, "cloud-init-local.service"},
	{"cloud-init local done", ends, "cloud-init-local.service"},
	{"cloud-init network", begins, "cloud-init.service"},
	{"cloud-init network done", ends, "cloud-init.service"},
	{"cloud-init config", begins, "cloud-config.service"},
	{"cloud-init config done", ends, "cloud-config.service"},
	{"cloud-init final", begins, "cloud-final.service"},
	{"cloud-init final done", ends, "cloud-final.service"},
	{"agent start", happens, "agent exec"},
	{"agent running", happens, "agent running"},
	{"agent done", ends, "slipway-provision.service"},
	{"containerd exec", happens, "containerd exec"},
	{"containerd ready", ends, "containerd.service"},
	{"kubelet prepared", ends, "kubelet-prepare.service"},
	{"kubelet exec", happens, "kubelet exec"},
	{"certificate issued", happens, "certificate written"},
	{"script start", written, classic.StartPath},
	{"contract read", ends, "find contract"},
	{"address awaited", begins, "wait for address"},
	{"address known", ends, "wait for address"},
	{"certificate wanted", begins, "Certificate:kubelet-client"},
	{"API server connected", ends, "certificate connection"},
	{"certificate requested", ends, "certificate request"},
	{"certificate received", ends, "certificate approval"},
	{"certificate tried", ends, "certificate used"},
	{"kubeconfig written", ends, "kubeconfig"},
	{"kubelet wanted", begins, "Unit:kubelet.service"},
}

// bootTimeline is the machine's boot, as its own records and the test have it.
type bootTimeline struct {
	// Events are the events of the machine, the API server and the test, by the test's clock.
	Events []Event
	// Anatomy is the timeline from the machine's records. It is nil if they could not be got.
	Anatomy *anatomy.Timeline
	// Differences are how the timeline differs from what the test saw from outside.
	Differences []Difference
}

// timeline merges the events of the machine, the API server and the test, by the test's clock.
func (r *caseRun) timeline(ctx context.Context) bootTimeline {
	var b bootTimeline
	registered, ready := r.node.times()
	at := make(map[string]time.Time)
	kernel, err := r.kernelStart(ctx)
	if err == nil {
		b.Anatomy, err = r.anatomy(ctx)
	}
	if err != nil {
		r.Log.Warn("the machine reports no times", "case", r.Name, "error", err)
	} else {
		at = momentsOf(b.Anatomy, kernel)
		b.Differences = r.differences(b.Anatomy, kernel)
		for _, d := range b.Differences {
			r.Log.Info("seen from outside", "case", r.Name, "event", d.Event, "later by ms", d.LaterMs)
		}
	}
	b.Events = placeEvents(at, r.vm.Started, registered, ready)
	return b
}

// momentsOf are the times of the case's events in a machine's timeline. kernel is when its kernel started.
func momentsOf(t *anatomy.Timeline, kernel time.Time) map[string]time.Time {
	at := map[string]time.Time{"kernel": kernel}
	for _, m := range moments {
		us, ok := momentOf(t, m.part, m.name)
		if ok {
			at[m.event] = kernel.Add(time.Duration(us) * time.Microsecond)
		}
	}
	return at
}

// momentOf is the time of an event, or of an end of the last span by a name.
func momentOf(t *anatomy.Timeline, part part, name string) (us int64, ok bool) {
	switch part {
	case happens:
		return t.At(name)
	case written:
		for _, f := range t.Files {
			if f.Path == name && f.AtUs != nil {
				return *f.AtUs, true
			}
		}
		return 0, false
	}
	for _, s := range t.Spans {
		switch {
		case s.Name != name || s.Open && part == ends:
		case part == begins:
			us, ok = s.StartUs, true
		default:
			us, ok = s.EndUs, true
		}
	}
	return us, ok
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
