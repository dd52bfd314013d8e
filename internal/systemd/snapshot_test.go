package systemd_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// A snapshot has no property that can have a secret, and those of services only for services.
func TestSnapshot(t *testing.T) {
	bus := hosttest.NewBus()
	bus.Put("manager", map[string]any{"UserspaceTimestampMonotonic": uint64(2_000_000), "Environment": []string{"SECRET=1"}})
	bus.Put("b.target", map[string]any{"InactiveExitTimestampMonotonic": uint64(3_000_000), "After": []string{"a.service"}, "Result": "x"})
	bus.Put("a.service", map[string]any{"InactiveExitTimestampMonotonic": uint64(2_500_000), "ActiveState": "failed", "Result": "exit-code", "Environment": []string{"SECRET=1"}})
	bus.Put("gone.service", nil)
	got, err := hosttest.Systemd(bus).Snapshot(t.Context())
	must(t, err)
	want := &systemd.Snapshot{
		Manager: map[string]any{"UserspaceTimestampMonotonic": uint64(2_000_000)},
		Units: []map[string]any{
			{"InactiveExitTimestampMonotonic": uint64(2_500_000), "ActiveState": "failed", "Result": "exit-code"},
			{"InactiveExitTimestampMonotonic": uint64(3_000_000), "After": []string{"a.service"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	bus.Err = errors.New("systemd hangs")
	if _, err := hosttest.Systemd(bus).Snapshot(t.Context()); err == nil {
		t.Error("no error, and systemd hangs")
	}
}
