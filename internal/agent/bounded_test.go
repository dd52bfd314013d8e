package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/state"
)

// Whatever is wrong with a contract, and however often, the agent can read the status back.
func TestStatusOfManyProblems(t *testing.T) {
	t.Parallel()
	many := func(format string) string {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, with string
	}{
		{"labels", "kubelet:\n  labels:\n" + many("    -l%d: x\n")},
		{"unknown fields", "kubelet:\n" + many("  f%d: 1\n")},
	} {
		n := newNode(t)
		n.Called = ""
		n.deliver(nativeContract, append(example(t, "native/minimal.yaml"), c.with...))
		got := n.provision()
		if len(got.Problems) < 200 {
			t.Errorf("%s: %d problems: %v %+v", c.name, len(got.Problems), got.Problems, got.Error)
		}
		if size := len(n.read(state.Status.Path)); int64(size) > state.Status.Limit {
			t.Errorf("%s: the status has %d bytes", c.name, size)
		}
		last, err := n.LastStatus()
		if err != nil || last.ExitCode != got.ExitCode || len(last.Problems) == 0 {
			t.Errorf("%s: %v", c.name, err)
		}
		if log := n.log.String(); len(log) > 1<<20 {
			t.Errorf("%s: the log has %d bytes", c.name, len(log))
		}
		n.published(nativePlace, got.ExitCode)
	}
}

// A status that exists but cannot be read is not reported as missing.
func TestStatusThatCannotBeRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	if _, err := n.LastStatus(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no provisioning has ended") {
		t.Errorf("%v", err)
	}
	for _, content := range []string{"", "{", strings.Repeat(" ", int(state.Status.Limit)+1)} {
		n.deliver(state.Status.Path, []byte(content))
		if _, err := n.LastStatus(); err == nil || strings.Contains(err.Error(), "no provisioning") || !strings.Contains(err.Error(), state.Status.Path) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
}
