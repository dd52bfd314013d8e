package systemd

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
)

// Start is when a unit became active, what distinguishes that start from others (systemd.exec(5),
// $INVOCATION_ID), and whether it is active still.
type Start struct {
	At         time.Time
	Invocation string
	Active     bool
}

// LastStart is a unit's last start; where systemd does not tell when that was, it is now.
func (m *Manager) LastStart(ctx context.Context, unit string) (Start, error) {
	properties, err := m.properties(ctx, UnitObject(unit), unitInterface)
	if err != nil {
		return Start{}, fmt.Errorf("last start of %s: %w", unit, err)
	}
	return startOf(properties), nil
}

// WaitEnd waits until a unit's start has ended, also where the unit has been started again since. systemd is asked once,
// and then whenever it reports a change.
func (m *Manager) WaitEnd(ctx context.Context, unit string, start Start) error {
	err := m.do(ctx, func(conn Bus) error {
		return watchUnit(ctx, conn, unit, func() (bool, error) {
			properties, err := conn.Properties(ctx, UnitObject(unit), unitInterface)
			if err != nil {
				return false, err
			}
			now := startOf(properties)
			return !now.Active || now.Invocation != start.Invocation, nil
		})
	})
	if err != nil {
		return fmt.Errorf("end of %s: %w", unit, err)
	}
	return nil
}

// startOf is a unit's last start, by its properties.
func startOf(properties map[string]any) Start {
	start := Start{At: time.Now()}
	id, _ := properties["InvocationID"].([]byte)
	start.Invocation = string(id)
	state, _ := properties["ActiveState"].(string)
	start.Active = IsActive(apply.UnitState{ActiveState: state})
	// Not by the time of day, which a machine that boots may be told meanwhile.
	var now unix.Timespec
	if entered := micros(properties["ActiveEnterTimestampMonotonic"]); entered > 0 && unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		start.At = start.At.Add(entered - time.Duration(now.Nano()))
	}
	return start
}
