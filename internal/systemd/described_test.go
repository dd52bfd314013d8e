package systemd_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// The units that have started are described, with their result if they are services.
func TestDescribe(t *testing.T) {
	bus := hosttest.NewBus()
	bus.Put("manager", map[string]any{"UserspaceTimestampMonotonic": uint64(2_000_000), "Version": "252"})
	bus.Put("b.target", map[string]any{"InactiveExitTimestampMonotonic": uint64(3_000_000), "After": []string{"a.service"}, "Result": "x"})
	bus.Put("a.service", map[string]any{"InactiveExitTimestampMonotonic": uint64(2_500_000), "ActiveState": "failed", "Result": "exit-code", "Environment": []string{"SECRET=1"}})
	bus.Put("never.service", map[string]any{"InactiveExitTimestampMonotonic": uint64(0)})
	got, err := hosttest.Systemd(bus).Describe(t.Context())
	must(t, err)
	want := systemd.Described{
		Manager: map[string]any{"UserspaceTimestampMonotonic": uint64(2_000_000)},
		Units: []map[string]any{
			{"Id": "a.service", "InactiveExitTimestampMonotonic": uint64(2_500_000), "ActiveState": "failed", "Result": "exit-code"},
			{"Id": "b.target", "InactiveExitTimestampMonotonic": uint64(3_000_000), "After": []string{"a.service"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bus.Err = errors.New("systemd hangs")
	if _, err := hosttest.Systemd(bus).Describe(t.Context()); err == nil {
		t.Error("no error, and systemd hangs")
	}
}
