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
	properties, err := m.properties(ctx, UnitObject(unit), unitInterface, startProperties...)
	if err != nil {
		return Start{}, fmt.Errorf("last start of %s: %w", unit, err)
	}
	return startOf(properties), nil
}

// WaitStart waits until a unit that has ended is started again, and returns that start, which may have ended by then, too. It
// returns an error, which says how the unit is, when it will not be started by itself, or has not been when ctx is done.
func (m *Manager) WaitStart(ctx context.Context, unit string, before Start) (Start, error) {
	var start Start
	var state apply.UnitState
	err := m.look(ctx, func(conn Bus) (enough bool, err error) {
		properties, err := conn.Properties(ctx, UnitObject(unit), unitInterface, startProperties...)
		if err != nil {
			return false, err
		}
		if start = startOf(properties); start.Active || start.Invocation != before.Invocation {
			return true, nil
		}
		if state, err = readState(ctx, conn, unit); err == nil && !IsActive(state) && !changing(state) {
			err = fmt.Errorf("is %s", Describe(state))
		}
		return false, err
	})
	if err != nil && ctx.Err() != nil && state != (apply.UnitState{}) {
		err = fmt.Errorf("is %s: %w", Describe(state), err)
	}
	return start, err
}

// startProperties are those that a unit's last start is known by.
var startProperties = []string{"InvocationID", "ActiveState", "ActiveEnterTimestampMonotonic"}

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
