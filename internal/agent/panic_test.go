package agent

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/test/detector"
)

// methods are all host methods that a provisioning calls, with what is still published if one of them panics.
var methods = []struct {
	name string
	// harmless: the provisioning succeeds all the same.
	harmless bool
	// unpublished: without this method nothing can be published.
	unpublished bool
}{
	{name: "Lock"}, {name: "Stat"}, {name: "ReadFile"}, {name: "Stage"}, {name: "Commit"}, {name: "MakeDirectory"}, {name: "MakeSymlink"},
	{name: "Remove"}, {name: "Sync"}, {name: "UnitState"}, {name: "StartUnit"}, {name: "Sysctl"}, {name: "SetSysctl"},
	{name: "ModuleLoaded"}, {name: "LoadModule"}, {name: "Probe"}, {name: "ReadDir"}, {name: "BuildInfo"}, {name: "Addresses"}, {name: "NeedReload"},
	{name: "WriteFileAtomic", unpublished: true},
	{name: "CreateExclusive", harmless: true}, {name: "BootTimes", harmless: true}, {name: "ServiceStart", harmless: true},
}

// A panic in any method ends in a result and an error, in whichever goroutine it happens.
func TestPanics(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, m := range methods {
		for _, sequential := range []bool{true, false} {
			n := newNode(t)
			n.Sequential = sequential
			n.deliver(aksContract, example(t, "aks/azure-cni.json"))
			var called atomic.Bool
			n.host.before = func(op, _ string) error {
				if op == m.name {
					called.Store(true)
					panic("broken " + op)
				}
				return nil
			}
			got := n.Provision(t.Context(), ProvisionOptions{})
			if !called.Load() {
				t.Errorf("%s is not called", m.name)
			}
			want := exitcode.AKSNodeController
			if m.harmless {
				want = 0
			}
			if (got.ExitCode != 0) == m.harmless {
				t.Errorf("%s: exit code is %d, want %d: %v", m.name, got.ExitCode, want, got.Error)
			}
			if !m.harmless && !strings.Contains(got.Error.Message, "please report it") {
				t.Errorf("%s: the error is %v", m.name, got.Error)
			}
			if !strings.Contains(n.log.String(), "broken "+m.name) || !strings.Contains(n.log.String(), "panic_test.go") {
				t.Errorf("%s: the log does not say where", m.name)
			}
			if m.unpublished {
				continue
			}
			n.published(aksPlace, got.ExitCode)
			n.host.before = func(string, string) error { return nil }
			if again := n.Provision(t.Context(), ProvisionOptions{}); again.ExitCode != 0 {
				t.Errorf("%s: the next run: %v", m.name, again.Error)
			}
			n.published(aksPlace, 0)
			n.left()
		}
	}
}

// Only Wait calls these. A panic there gives an error and still a document.
func TestPanicsWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"WaitForFiles", "ReadFile", "BootTimes", "ServiceStart", "CreateExclusive"} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.provision()
		n.host.before = func(op, _ string) error {
			if op == method {
				panic("broken " + op)
			}
			return nil
		}
		document, code, err := n.Wait(t.Context())
		harmless := slices.Contains([]string{"BootTimes", "ServiceStart", "CreateExclusive"}, method)
		if harmless != (err == nil && code == 0) || len(document) == 0 {
			t.Errorf("%s: %d, %v, %s", method, code, err, document)
		}
		if !strings.Contains(n.log.String(), "broken "+method) {
			t.Errorf("%s: the log does not say what", method)
		}
	}
}
