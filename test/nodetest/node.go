// Package nodetest provisions nodes in directories, for tests that compare the result of a contract. Only tests call it.
package nodetest

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/status"
)

// Node is a node in a directory.
type Node struct {
	// Root is the directory. The contract has the same path in it as on a machine.
	Root string
	// Facts are the machine's facts.
	Facts facts.Facts
	// Called is the agent's program name, if it is not its own.
	Called string
}

// Provision runs the agent on the directory.
func (n Node) Provision(t *testing.T) *status.Status {
	t.Helper()
	dir, err := host.OpenDirectory(n.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	a := &agent.Agent{
		Host: dir, Log: slog.New(slog.DiscardHandler), Now: Ticking(), Version: "test", Sequential: true, Called: n.Called,
	}
	known := n.Facts
	return a.Provision(t.Context(), agent.ProvisionOptions{Facts: &known})
}

// Again checks that a second run of the agent changes nothing, and writes nothing.
func (n Node) Again(t *testing.T) {
	t.Helper()
	before := n.Stamps(t)
	if second := n.Provision(t); len(second.Changes) > 0 || second.ExitCode != 0 {
		t.Errorf("a second provisioning changed %v, exit code %d", second.Changes, second.ExitCode)
	}
	if diff := cmp.Diff(before, n.Stamps(t)); diff != "" {
		t.Errorf("a second provisioning wrote something:\n%s", diff)
	}
}

// Stamps are the times of the last changes in the directory.
func (n Node) Stamps(t *testing.T) map[string]time.Time {
	t.Helper()
	times := make(map[string]time.Time)
	err := filepath.WalkDir(n.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			times[strings.TrimPrefix(path, n.Root)] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// Ticking is a clock that advances by a millisecond at each reading.
func Ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}
