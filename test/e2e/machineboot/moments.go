package machineboot

import (
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/test/e2e/classic"
)

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
	{"agent done", ends, "slipway-node"},
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

// Moments are the times of the case's events in a machine's timeline. kernel is when its kernel started.
func Moments(t *anatomy.Timeline, kernel time.Time) map[string]time.Time {
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
