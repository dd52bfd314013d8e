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

// stamps are commands in the machine that print when something happened, in microseconds since
// 1970 by its own clock; 0 or nothing where it did not.
var stamps = []struct{ event, command string }{
	{"kernel", `echo $(( $(date +%s%6N) - $(cut -d' ' -f1 /proc/uptime | tr -d .)0000 ))`},
	{"systemd", property("", "UserspaceTimestamp")},
	{"cloud-init local", property("cloud-init-local.service", "ExecMainStartTimestamp")},
	{"cloud-init network", property("cloud-init.service", "ExecMainStartTimestamp")},
	{"cloud-init network done", property("cloud-init.service", "ExecMainExitTimestamp")},
	{"agent start", property("slipway-provision.service", "ExecMainStartTimestamp")},
	{"agent done", property("slipway-provision.service", "ExecMainExitTimestamp")},
	{"containerd exec", property("containerd.service", "ExecMainStartTimestamp")},
	{"containerd ready", property("containerd.service", "ActiveEnterTimestamp")},
	{"kubelet exec", property("kubelet.service", "ExecMainStartTimestamp")},
	{"certificate issued", `stat -c %.6Y /var/lib/kubelet/pki/kubelet-client-current.pem | tr -d .`},
	{"cloud-init final", property("cloud-final.service", "ExecMainStartTimestamp")},
	{"cloud-init final done", property("cloud-final.service", "ExecMainExitTimestamp")},
	{"boot finished", property("", "FinishTimestamp")},
}

// property prints a time that systemd knows, in microseconds.
func property(unit, name string) string {
	return "t=$(systemctl show --timestamp=us+utc -P " + name + " " + unit + `); [ -n "$t" ] && date -d "$t" +%s%6N`
}

// timeline puts together what the machine, the API server and the test saw, by the test's clock.
func (r *caseRun) timeline(ctx context.Context) []Event {
	var script strings.Builder
	for _, s := range stamps {
		fmt.Fprintf(&script, "echo \"%s|$(%s)\"\n", s.event, s.command)
	}
	script.WriteString("echo \"now|$(date +%s%6N)\"\n")
	result, err := r.vm.Shell.Run(ctx, script.String())
	answered := time.Now()
	if err != nil {
		r.Log.Warn("the machine tells no times", "case", r.Name, "error", err)
	}
	at := make(map[string]time.Time)
	for line := range strings.Lines(result.Output) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "|")
		if us, err := strconv.ParseInt(text, 10, 64); err == nil && us > 0 {
			at[name] = time.UnixMicro(us)
		}
	}
	skew := answered.Sub(at["now"])
	delete(at, "now")
	events := []Event{{Name: "QEMU start"}}
	add := func(name string, t time.Time) {
		if !t.IsZero() {
			events = append(events, Event{name, float64(t.Sub(r.vm.Started).Milliseconds()) / 1000})
		}
	}
	for name, t := range at {
		add(name, t.Add(skew))
	}
	registered, ready := r.node.times()
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
