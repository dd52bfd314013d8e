package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/e2e/classic"
)

// Event is a point on a machine's way to a node.
type Event struct {
	Name string `json:"name"`
	// At is in seconds since QEMU's start.
	At float64 `json:"seconds"`
}

// stamps are events, by the unit and the property with which systemd records their time. The unit "" is systemd itself.
var stamps = []struct{ event, unit, property string }{
	{"systemd", "", "UserspaceTimestampMonotonic"},
	{"boot finished", "", "FinishTimestampMonotonic"},
	{"local file systems", "local-fs.target", "ActiveEnterTimestampMonotonic"},
	{"sysinit", "sysinit.target", "ActiveEnterTimestampMonotonic"},
	{"networkd", "systemd-networkd.service", "ExecMainStartTimestampMonotonic"},
	{"network online", "network-online.target", "ActiveEnterTimestampMonotonic"},
	{"cloud-init local", "cloud-init-local.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init local done", "cloud-init-local.service", "ExecMainExitTimestampMonotonic"},
	{"cloud-init network", "cloud-init.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init network done", "cloud-init.service", "ExecMainExitTimestampMonotonic"},
	{"cloud-init config", "cloud-config.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init config done", "cloud-config.service", "ExecMainExitTimestampMonotonic"},
	{"agent start", "slipway-provision.service", "ExecMainStartTimestampMonotonic"},
	{"agent done", "slipway-provision.service", "ExecMainExitTimestampMonotonic"},
	{"containerd exec", "containerd.service", "ExecMainStartTimestampMonotonic"},
	{"containerd ready", "containerd.service", "ActiveEnterTimestampMonotonic"},
	{"kubelet prepared", "kubelet-prepare.service", "ExecMainExitTimestampMonotonic"},
	{"kubelet exec", "kubelet.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init final", "cloud-final.service", "ExecMainStartTimestampMonotonic"},
	{"cloud-init final done", "cloud-final.service", "ExecMainExitTimestampMonotonic"},
}

// written are events, by the file that was last written then; the time is by the machine's clock.
var written = []struct{ event, path string }{
	{"certificate issued", "/var/lib/kubelet/pki/kubelet-client-current.pem"},
	{"script start", classic.StartPath},
}

// logged are events, by the unit that first logged a text then in this boot, and a part of the text. Every machine has them, with
// any program that makes the node.
var logged = []struct{ event, unit, text string }{
	{"address given", "systemd-networkd.service", "DHCPv4 address "},
}

// stampsScript prints systemd's times, in microseconds since the kernel's start, and the clocks' present times.
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
	var script strings.Builder
	script.WriteString("echo Id=; " + show + "; echo; " + show + strings.Join(units, " ") + "; echo; echo Id=clocks\n")
	for i, f := range written {
		fmt.Fprintf(&script, "echo file%d=$(stat -c %%.6Y %s 2>/dev/null | tr -d .)\n", i, f.path)
	}
	for i, l := range logged {
		fmt.Fprintf(&script, "echo line%d=$(journalctl -b -q -o short-unix -u %s | grep -m1 '%s' | cut -d' ' -f1 | tr -d .)\n", i, l.unit, l.text)
	}
	script.WriteString("echo now=$(date +%s%6N); echo uptime=$(cut -d' ' -f1 /proc/uptime | tr -d .)0000\n")
	return script.String()
}

// timeline merges the events of the machine, the API server and the test, by the test's clock.
func (r *caseRun) timeline(ctx context.Context) []Event {
	result, err := r.vm.Shell.Run(ctx, stampsScript())
	answered := time.Now()
	if err != nil {
		r.Log.Warn("the machine reports no times", "case", r.Name, "error", err)
	}
	at, now := parseStamps(result.Output, answered)
	if _, ran := at["agent start"]; ran {
		maps.Copy(at, agentEvents(r.agentStatus(ctx), answered, now))
	}
	registered, ready := r.node.times()
	return placeEvents(at, r.vm.Started, registered, ready)
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

// agentStatus is the agent's own status, or nil.
func (r *caseRun) agentStatus(ctx context.Context) *status.Status {
	text, err := r.vm.Shell.Run(ctx, "cat "+statusPath)
	if err != nil || text.Code != 0 {
		return nil
	}
	s, err := status.Parse([]byte(text.Output))
	if err != nil {
		r.Log.Warn("the agent's status is not readable", "case", r.Name, "error", err)
		return nil
	}
	return s
}

// agentSteps are events, by the agent's step that begins or ends then. An empty name means no event. Those of the join exist if the
// agent requests the kubelet's certificate.
var agentSteps = []struct{ step, begins, ends string }{
	{"find contract", "", "contract read"},
	{"wait for address", "address awaited", "address known"},
	{"Certificate:kubelet-client", "certificate wanted", ""},
	{"certificate connection", "", "API server connected"},
	{"certificate request", "", "certificate requested"},
	{"certificate approval", "", "certificate received"},
	{"certificate used", "", "certificate tried"},
	{"kubeconfig", "", "kubeconfig written"},
	{"Unit:kubelet.service", "kubelet wanted", ""},
}

// agentEvents are the events in the agent's status. now is the machine's clock at the test's time answered.
func agentEvents(s *status.Status, answered, now time.Time) map[string]time.Time {
	at := make(map[string]time.Time)
	if s == nil || now.IsZero() || s.StartedAt.IsZero() {
		return at
	}
	began := answered.Add(-now.Sub(s.StartedAt))
	at["agent running"] = began
	for _, step := range s.Steps {
		for _, e := range agentSteps {
			if e.step != step.Name {
				continue
			}
			if e.begins != "" {
				at[e.begins] = began.Add(time.Duration(step.StartMs) * time.Millisecond)
			}
			if e.ends != "" {
				at[e.ends] = began.Add(time.Duration(step.StartMs+step.DurationMs) * time.Millisecond)
			}
		}
	}
	return at
}

// parseStamps parses the output of stampsScript, which came at a time. An event that did not happen has no time. clock is the
// machine's clock then.
func parseStamps(text string, answered time.Time) (at map[string]time.Time, clock time.Time) {
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
	at = make(map[string]time.Time)
	uptime, now := values["clocks uptime"], values["clocks now"]
	if uptime == 0 || now == 0 {
		return at, clock
	}
	ago := func(us int64) time.Time { return answered.Add(-time.Duration(us) * time.Microsecond) }
	at["kernel"] = ago(uptime)
	for _, s := range stamps {
		if us := values[s.unit+" "+s.property]; us > 0 {
			at[s.event] = ago(uptime - us)
		}
	}
	clocked := func(event, name string) {
		if us := values["clocks "+name]; us > 0 {
			at[event] = ago(now - us)
		}
	}
	for i, f := range written {
		clocked(f.event, fmt.Sprintf("file%d", i))
	}
	for i, l := range logged {
		clocked(l.event, fmt.Sprintf("line%d", i))
	}
	return at, time.UnixMicro(now)
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
