package apply_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

func restarts(m *memory) []string {
	return slices.DeleteFunc(m.changed(), func(c string) bool {
		return !strings.HasPrefix(c, "restart ") && !strings.HasPrefix(c, "start ") && c != "reload"
	})
}

// A run that finds the record of a dead run does that run's unfinished work. If the record cannot be understood, the
// run assumes the worst.
func TestRecordOfAnEarlierRun(t *testing.T) {
	all := []string{"reload", "restart containerd.service", "restart kubelet-prepare.service", "restart kubelet.service"}
	runtime, kubelet := all[1], all[3]
	for _, c := range []struct {
		name, record string
		want         []string
	}{
		{"reload", `{"reload":true}`, all[:1]},
		{"one unit", `{"restarts":["kubelet.service"]}`, []string{kubelet}},
		{"two units", `{"reload":true,"restarts":["containerd.service","kubelet.service"]}`, []string{all[0], runtime, kubelet}},
		{"in disorder, and twice", `{"restarts":["kubelet.service","containerd.service","kubelet.service"]}`, []string{runtime, kubelet}},
		{"a unit that does not run", `{"restarts":["other.service"]}`, nil},
		{"more than is known", `{"restarts":["kubelet.service"],"added":"later"}`, []string{kubelet}},
		{"empty", "", all},
		{"spaces", " \n", all},
		{"zeros", strings.Repeat("\x00", 40), all},
		{"no JSON", "restarts: kubelet.service\n", all},
		{"truncated", `{"reload":true,"restarts":["kube`, all},
		{"null", "null\n", all},
		{"says nothing", "{}\n", all},
		{"says nothing that is known", `{"units":[]}`, all},
		{"a list", `["kubelet.service"]`, all},
		{"wrong types", `{"reload":"yes","restarts":["kubelet.service"]}`, all},
		{"no names", `{"restarts":[""]}`, all},
		{"a number for a name", `{"restarts":["kubelet.service",7]}`, all},
		{"too large", `{"restarts":["` + strings.Repeat("x", 70<<10) + `"]}`, all},
	} {
		p := aksPlan(t)
		m := newMemory()
		applied(t, m, p)
		m.files[intentPath] = fileEntry(&resource.File{Mode: 0o600, Content: []byte(c.record)})
		m.forget()
		applied(t, m, p)
		equal(t, c.name, restarts(m), c.want)
		converged(t, m, p)
	}
}

// If the record is a link or a pipe, it is replaced and not followed.
func TestRecordIsNoFile(t *testing.T) {
	for _, kind := range []apply.EntryKind{apply.Symlink, apply.Other} {
		p := aksPlan(t)
		m := newMemory()
		applied(t, m, p)
		m.files[intentPath] = entry{Entry: apply.Entry{Kind: kind}}
		m.forget()
		applied(t, m, p)
		if len(restarts(m)) != 4 {
			t.Errorf("%s: %q", kind, restarts(m))
		}
		converged(t, m, p)
	}
}

// A run adds its changes to the unfinished work of the record.
func TestRecordIsAddedTo(t *testing.T) {
	m := newMemory()
	p := aksPlan(t)
	applied(t, m, p)
	m.files[intentPath] = fileEntry(&resource.File{Content: []byte(`{"restarts":["kubelet.service"]}`)})
	m.files["/etc/containerd/config.toml"] = entry{}
	m.files["/etc/default/kubelet"] = entry{}
	m.before = failing("state kubelet.service", "state containerd.service")
	if try(m, p) == nil {
		t.Fatal("must fail")
	}
	if got, want := string(m.files[intentPath].content), `{"restarts":["containerd.service","kubelet.service"]}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m.before = nil
	m.forget()
	applied(t, m, p)
	equal(t, "done", restarts(m), []string{"restart containerd.service", "restart kubelet.service"})
}

// A failed run leaves a record of the unfinished work only.
func TestFailedRunOwesTheRest(t *testing.T) {
	m := newMemory()
	applied(t, m, aksPlan(t))
	m.probe = func(_ context.Context, c *resource.Check) error {
		if c.Label == "kubelet-binary" {
			return errInjected
		}
		return nil
	}
	p := aksPlan(t, changedConfig)
	m.forget()
	if try(m, p) == nil {
		t.Fatal("must fail")
	}
	equal(t, "done", restarts(m), []string{"reload", "restart containerd.service"})
	m.forget()
	if try(m, p) == nil {
		t.Fatal("must fail again")
	}
	equal(t, "done by a second run", restarts(m), nil)
	m.probe = nil
	applied(t, m, p)
	equal(t, "done by a run that succeeds", restarts(m), []string{"restart kubelet.service"})
	converged(t, m, p)
}

// An agent that dies while it shortens the record leaves only files that the next run removes.
func TestDeathWhileShortening(t *testing.T) {
	m := newMemory()
	applied(t, m, aksPlan(t))
	p := aksPlan(t, changedConfig)
	failed := false
	m.before = func(c call) error {
		failed = failed || c == call{"restart", "kubelet.service"}
		if failed && c != (call{"stage", intentPath}) {
			return errDead
		}
		return nil
	}
	if try(m, p) == nil || len(m.staged) != 1 {
		t.Fatalf("must fail while the record is staged: %v", m.staged)
	}
	m.before = nil
	applied(t, m, p)
	converged(t, m, p)
}

// The record has no work for a unit that neither runs nor is planned.
func TestNothingOwedToUnitThatDoesNotRun(t *testing.T) {
	m := newMemory()
	m.before = failing("start a.service")
	p := with(file("/etc/systemd/system/x", "x", "a.service", "idle.service"), started("a.service"))
	if try(m, p) == nil {
		t.Fatal("must fail")
	}
	if got, want := string(m.files[intentPath].content), `{"restarts":["a.service"]}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// If the failed resource is not a unit, the record is removed.
	m = newMemory()
	m.before = failing("set vm.x")
	p = with(file("/etc/a", "a", "a.service"), started("a.service"), resource.Resource{Spec: &resource.Sysctl{Key: "vm.x", Value: "1"}})
	if try(m, p) == nil || m.files[intentPath].Kind != apply.Absent {
		t.Errorf("the record is %s", m.files[intentPath].content)
	}
}

// A record that cannot be shortened stays: the next run does more, and loses nothing.
func TestRecordCannotBeShortened(t *testing.T) {
	m := newMemory()
	applied(t, m, aksPlan(t))
	p := aksPlan(t, changedConfig)
	stages := 0
	m.before = func(c call) error {
		if c.op == "stage" && c.name == intentPath {
			if stages++; stages > 1 {
				return errInjected
			}
		}
		return failing("restart kubelet.service")(c)
	}
	if try(m, p) == nil {
		t.Fatal("must fail")
	}
	m.before = nil
	m.forget()
	applied(t, m, p)
	equal(t, "done", restarts(m), []string{"reload", "restart containerd.service", "restart kubelet.service"})
	converged(t, m, p)
}
