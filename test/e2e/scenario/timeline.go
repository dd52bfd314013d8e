package scenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event is a point of a machine's way to a node.
type Event struct {
	Name string `json:"name"`
	// At is seconds since QEMU was started.
	At float64 `json:"seconds"`
}

// stamps are events, by the unit and the property in which systemd keeps their time; the unit "" is
// systemd itself.
var stamps = []struct{ event, unit, property string }{
	{"systemd", "", "UserspaceTimestampMonotonic"},
	{"boot finished", "", "FinishTimestampMonotonic"},
	{"cloud-init local", "cloud-init-local.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init network", "cloud-init.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init network done", "cloud-init.service", "ExecMainExitTimestampMonotonic"},
	{"agent start", "slipway-provision.service", "ExecMainStartTimestampMonotonic"},
	{"agent done", "slipway-provision.service", "ExecMainExitTimestampMonotonic"},
	{"containerd exec", "containerd.service", "ExecMainStartTimestampMonotonic"},
	{"containerd ready", "containerd.service", "ActiveEnterTimestampMonotonic"},
	{"kubelet exec", "kubelet.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init final", "cloud-final.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init final done", "cloud-final.service", "ExecMainExitTimestampMonotonic"},
}

// stampsScript prints systemd's times, in microseconds since the kernel started, and what the clocks
// say.
func stampsScript() string {
	var units, properties []string
	for _, s := range stamps {
		if s.unit != "" && !slices.Contains(units, s.unit) {
			units = append(units, s.unit)
		}
		if !slices.Contains(properties, s.property) {
			properties = append(properties, s.property)
		}
	}
	show := "systemctl show -p Id," + strings.Join(properties, ",") + " "
	return "echo Id=; " + show + "; echo; " + show + strings.Join(units, " ") + `; echo; echo Id=clocks
echo certificate=$(stat -c %.6Y /var/lib/kubelet/pki/kubelet-client-current.pem 2>/dev/null | tr -d .)
echo now=$(date +%s%6N); echo uptime=$(cut -d' ' -f1 /proc/uptime | tr -d .)0000
`
}

// timeline puts together what the machine, the API server and the test saw, by the test's clock.
func (r *caseRun) timeline(ctx context.Context) []Event {
	result, err := r.vm.Shell.Run(ctx, stampsScript())
	answered := time.Now()
	if err != nil {
		r.Log.Warn("the machine tells no times", "case", r.Name, "error", err)
	}
	registered, ready := r.node.times()
	return placeEvents(parseStamps(result.Output, answered), r.vm.Started, registered, ready)
}

// parseStamps reads what stampsScript printed at a time; what did not happen has no time.
func parseStamps(text string, answered time.Time) map[string]time.Time {
	values := make(map[string]int64) // by "UNIT PROPERTY"
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		unit, times := "", make(map[string]int64)
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if name == "Id" {
				unit = value
			} else if us, err := strconv.ParseInt(value, 10, 64); err == nil && us > 0 {
				times[name] = us
			}
		}
		for name, us := range times {
			values[unit+" "+name] = us
		}
	}
	at := make(map[string]time.Time)
	uptime, now := values["clocks uptime"], values["clocks now"]
	if uptime == 0 || now == 0 {
		return at
	}
	ago := func(us int64) time.Time { return answered.Add(-time.Duration(us) * time.Microsecond) }
	at["kernel"] = ago(uptime)
	for _, s := range stamps {
		if us := values[s.unit+" "+s.property]; us > 0 {
			at[s.event] = ago(uptime - us)
		}
	}
	if us := values["clocks certificate"]; us > 0 {
		at["certificate issued"] = ago(now - us)
	}
	return at
}

// placeEvents puts the machine's times and the test's own in order.
func placeEvents(at map[string]time.Time, started, registered, ready time.Time) []Event {
	events := []Event{{Name: "QEMU start"}}
	add := func(name string, t time.Time) {
		// A machine that was saved has a past.
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

// Share is Slipway's own part of a timeline: from the agent's start to the kubelet's, without
// containerd's.
func Share(events []Event) (seconds float64, ok bool) {
	at := make(map[string]float64)
	for _, e := range events {
		at[e.Name] = e.At
	}
	for _, name := range []string{"agent start", "containerd exec", "containerd ready", "kubelet exec"} {
		if at[name] == 0 {
			return 0, false
		}
	}
	return at["kubelet exec"] - at["agent start"] - (at["containerd ready"] - at["containerd exec"]), true
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
	if share, ok := Share(o.Timeline); ok {
		fmt.Fprintf(w, "  Slipway's own share, agent start to kubelet exec without containerd's start: %.2f s\n", share)
	}
}
