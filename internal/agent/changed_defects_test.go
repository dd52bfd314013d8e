package agent

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/test/detector"
)

// changeMethods are the host's methods that a change with everything in it calls.
var changeMethods = []string{
	"Lock", "Stat", "ReadFile", "Stage", "Commit", "Remove", "Sync", "UnitState", "NeedReload", "ReloadUnits", "RestartUnit",
	"StopUnit", "Run", "Probe", "WriteFileAtomic",
}

// Whichever host method fails or panics, a change ends with a result and gives back the lock. Once the method works
// again, the next change succeeds.
func TestDefectsDuringChange(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, method := range changeMethods {
		for how, fail := range map[string]func() error{
			"fails":  func() error { return syscall.EIO },
			"panics": func() error { panic("broken " + method) },
		} {
			n := running(t)
			n.deliver("/etc/systemd/system/old.service", nil)
			var called atomic.Bool
			n.host.before = func(op, _ string) error {
				if op != method {
					return nil
				}
				called.Store(true)
				return fail()
			}
			got := n.change(better(t), func(o *ChangeOptions) { o.Try = time.Minute })
			_, confirming := n.Confirm(t.Context())
			if !called.Load() {
				t.Errorf("%s is not called", method)
			}
			harmless := method == "StopUnit" // of the timer, which finds nothing to do
			if (got.Status.ExitCode == 0) != harmless || confirming == nil && !harmless {
				t.Errorf("%s %s: %d, %v; confirmed: %v", method, how, got.Status.ExitCode, got.Status.Error, confirming)
			}
			if how == "panics" && !harmless && !strings.Contains(n.log.String(), "broken "+method) {
				t.Errorf("%s: the log does not say where", method)
			}
			// Methods that only read do not crash either.
			_, _ = n.Drift(t.Context())
			_, _ = n.Generations()
			n.host.before = func(string, string) error { return nil }
			if unlock, err := apply.Lock(t.Context(), n.host); err != nil {
				t.Errorf("%s %s: %v", method, how, err)
			} else if err := unlock(); err != nil {
				t.Error(err)
			}
			if again := n.change(best(t)); again.Status.ExitCode != 0 || n.exists(brought) || !n.exists(pruned) {
				t.Errorf("%s %s: the next: %v", method, how, again.Status.Error)
			}
			n.left()
		}
	}
}

// Methods that only read return an error if they cannot read a file.
func TestCannotLook(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.deliver("/var/lib/slipway/generations/index.json", nil) // so that all are read
	for _, method := range []string{"ReadDir", "ReadFile"} {
		n.host.before = func(op, name string) error {
			if op == method && strings.HasPrefix(name, "/var/lib/slipway/generations") {
				return syscall.EIO
			}
			return nil
		}
		entries, err := n.Generations()
		drift, cannot := n.Drift(t.Context())
		if (err == nil) != (method == "ReadFile") || len(entries) > 0 || cannot == nil || len(drift) > 0 {
			t.Errorf("%s: %v, %v; %v, %v", method, entries, err, drift, cannot)
		}
	}
}
