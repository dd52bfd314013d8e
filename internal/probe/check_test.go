package probe

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// quiet logs nothing: servers complain about clients that hang up.
var quiet = log.New(io.Discard, "", 0)

// newTree opens a tree in a new directory, and returns a function that names what is in it.
func newTree(t *testing.T) (*rootfs.Tree, func(string) string) {
	t.Helper()
	tree, err := rootfs.Open(t.TempDir())
	must(t, err)
	t.Cleanup(func() { tree.Close() })
	return tree, func(path string) string { return filepath.Join(tree.Root(), path) }
}

// wait waits for a check that needs no files and no units.
func wait(ctx context.Context, check *resource.Check) error { return Wait(ctx, nil, nil, check) }

func TestProbeUnit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probe := func(conn systemd.Bus, timeout time.Duration) error {
			return Wait(t.Context(), nil, hosttest.Systemd(conn), &resource.Check{UnitActive: "kubelet.service", Timeout: resource.Duration(timeout)})
		}
		conn := hosttest.NewBus()
		for active, want := range map[string]string{
			"active": "", "reloading": "", "inactive": "is inactive (sub)", "failed": "is failed (sub)",
		} {
			conn.Set("kubelet.service", active, "sub")
			err := probe(conn, time.Minute)
			if want == "" {
				must(t, err)
				continue
			}
			var checkErr *apply.CheckError
			if wantError(t, err, "unit: kubelet.service: "+want); !errors.As(err, &checkErr) || checkErr.Cause != resource.CauseUnit {
				t.Errorf("%s: %v", active, err)
			}
		}
		if slices.Contains(conn.Seen(), "watch") {
			t.Error("a unit at rest is watched")
		}

		conn = hosttest.NewBus()
		conn.Set("kubelet.service", "activating", "auto-restart")
		wantError(t, probe(conn, time.Second), "is activating (auto-restart)", "deadline")
		time.AfterFunc(time.Second, func() { conn.Set("kubelet.service", "deactivating", "stop") })
		time.AfterFunc(2*time.Second, func() { conn.Set("kubelet.service", "activating", "start") })
		time.AfterFunc(3*time.Second, func() { conn.Set("kubelet.service", "active", "running") })
		must(t, probe(conn, time.Minute))

		conn = hosttest.NewBus()
		conn.Set("kubelet.service", "activating", "start")
		time.AfterFunc(time.Second, func() { conn.Set("kubelet.service", "failed", "failed") })
		wantError(t, probe(conn, time.Minute), "is failed")

		wantError(t, probe(hosttest.NewBus(), time.Minute), "no unit file has this name")
	})
}

func TestProbePath(t *testing.T) {
	tree, at := newTree(t)
	check := &resource.Check{PathExists: "/var/lib/kubelet/kubeconfig", Timeout: resource.Duration(time.Second)}
	err := Wait(t.Context(), tree, nil, check)
	var checkErr *apply.CheckError
	if !errors.As(err, &checkErr) || checkErr.Cause != resource.CauseMissing || checkErr.Endpoint != check.PathExists {
		t.Errorf("got %v", err)
	}
	wantError(t, err, "does not exist")
	check.Timeout = resource.Duration(time.Minute)
	go tree.WriteFileAtomic(&resource.File{Path: check.PathExists, Mode: 0o600, UID: os.Geteuid(), GID: os.Getegid()})
	must(t, Wait(t.Context(), tree, nil, check))
	if _, err := tree.ReadFile(check.PathExists, 1); err != nil {
		t.Errorf("%s: %v", at(check.PathExists), err)
	}
	wantError(t, wait(t.Context(), &resource.Check{Label: "empty"}), "empty", "checks nothing")
}
