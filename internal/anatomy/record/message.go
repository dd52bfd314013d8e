package record

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
)

// mark is a message that marks an event of the boot.
type mark struct {
	// identifier is the program's name in the log.
	identifier string
	// text is a part of the message, without a character that JSON escapes.
	text  string
	stage Stage
	event string
	// says reports whether the rest of the message, from text on, belongs to the event.
	says bool
}

// The events that programs log. Their texts have been stable over the versions that Slipway supports, and no program translates them.
var marks = []mark{
	{"kernel", "Linux version ", Kernel, "kernel starts", true},
	{"kernel", "Run /init as init process", InitRD, "initrd starts", false},
	{"systemd-networkd", "DHCPv4 address ", Systemd, "address given", true},
	{"containerd", "containerd successfully booted in ", Containerd, "containerd serves", true},
	// Kubernetes: cmd/kubelet/app/server.go.
	{"kubelet", "Kubelet version", Kubelet, "kubelet runs", false},
	// pkg/kubelet/certificate/bootstrap/bootstrap.go.
	{"kubelet", "Using bootstrap kubeconfig to generate TLS client cert", Kubelet, "kubelet wants a certificate", false},
	{"kubelet", "Waiting for client certificate to be issued", Kubelet, "kubelet requests a certificate", false},
	// client-go: util/certificate/csr/csr.go, before and since 1.28.
	{"kubelet", "is approved, waiting to be issued", Kubelet, "certificate approved", false},
	{"kubelet", "ertificate signing request is issued", Kubelet, "certificate issued", false},
	{"kubelet", "Started kubelet", Kubelet, "kubelet started", false},
	// pkg/kubelet/kubelet_node_status.go.
	{"kubelet", "Attempting to register node", Kubelet, "kubelet registers", false},
	{"kubelet", "Successfully registered node", Node, "Node registered", false},
	{"kubelet", "Fast updating node status as it just became ready", Node, "Node Ready", false},
}

// starts are the starts of units that a journal has, by the unit's name, the last one last.
type starts map[string][]Span

// maxStarts limits the starts of a unit that are kept: a unit in a crash loop has thousands.
const maxStarts = 20

// message reads a journal's record.
func (s *sink) message(e *entry, units starts) {
	at := Monotonic(e.monotonic)
	if e.hasSent && string(e.identifier) == "kernel" {
		at = Monotonic(e.sent)
	}
	name := string(e.about)
	switch string(e.messageID) {
	case gathered.UnitStarting:
		if list := units[name]; name != "" && len(list) < maxStarts {
			units[name] = append(list, Span{Stage: UnitStage, Name: Clean(name), Begin: at, Document: s.document})
		}
	case gathered.UnitStarted:
		units.end(s, name, at, false)
	case gathered.UnitFailed:
		units.end(s, name, at, true)
	default:
		s.line(string(e.identifier), at, e.text)
		return
	}
	s.count++
}

// end ends a unit's start. A target has no message when its start begins.
func (u starts) end(s *sink, name string, at Moment, failed bool) {
	list := u[name]
	if n := len(list); n > 0 && list[n-1].End.IsZero() {
		list[n-1].End, list[n-1].Failed = at, failed
		return
	}
	if name != "" && len(list) < maxStarts {
		u[name] = append(list, Span{Stage: UnitStage, Name: Clean(name), Begin: at, End: at, Failed: failed, Document: s.document})
	}
}

// sameStart is how far systemd's own time of a start and its message in the journal are apart, at most, in microseconds.
const sameStart = 2_000_000

// addStarts adds the starts that only the journal has: systemd itself knows the last start of each unit.
func (r *Records) addStarts(units starts) {
	last := make(map[string]int64)
	after := make(map[string][]string)
	for _, span := range r.Spans {
		if span.Stage == UnitStage {
			last[span.Name] = span.Begin.Us
			after[span.Name] = span.After
		}
	}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		for _, start := range units[name] {
			if at, known := last[start.Name]; !known || start.Begin.Us < at-sameStart {
				start.After = after[start.Name]
				r.Spans = append(r.Spans, start)
			}
		}
	}
}

// line reads a message of a program, from a journal or a log.
func (s *sink) line(identifier string, at Moment, text rawText) {
	s.count++
	for i := range marks {
		m := &marks[i]
		if m.identifier != identifier {
			continue
		}
		if !bytes.Contains(text.bytes, []byte(m.text)) {
			continue
		}
		event := Event{Stage: m.stage, Name: m.event, At: at, Document: s.document}
		if plain := text.plain(); m.says {
			event.Detail = Clean(string(plain[max(0, bytes.Index(plain, []byte(m.text))):]))
		}
		s.Events = append(s.Events, event)
		return
	}
	if isAgent(identifier) {
		s.agentMessage(at, strings.TrimSpace(string(text.plain())))
	}
}
