package systemd

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
)

// Start is when a unit became active, the ID of that start (systemd.exec(5), $INVOCATION_ID), and whether the unit is
// still active.
type Start struct {
	At         time.Time
	Invocation string
	Active     bool
}

// LastStart returns a unit's last start. If systemd does not report its time, the time is now.
func (m *Manager) LastStart(ctx context.Context, unit string) (Start, error) {
	properties, err := m.properties(ctx, UnitObject(unit), unitInterface, startProperties...)
	if err != nil {
		return Start{}, fmt.Errorf("last start of %s: %w", unit, err)
	}
	return startOf(properties), nil
}

// WaitStart waits until a unit that has ended starts again, and returns that start, which may also have ended by then.
// It returns an error with the unit's state if the unit will not start by itself, or has not when ctx is done.
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

// startProperties are the properties that describe a unit's last start.
var startProperties = []string{"InvocationID", "ActiveState", "ActiveEnterTimestampMonotonic"}

// startOf returns a unit's last start from its properties.
func startOf(properties map[string]any) Start {
	start := Start{At: time.Now()}
	id, _ := properties["InvocationID"].([]byte)
	start.Invocation = string(id)
	state, _ := properties["ActiveState"].(string)
	start.Active = IsActive(apply.UnitState{ActiveState: state})
	// This does not use the time of day, which may be set during a boot.
	var now unix.Timespec
	if entered := micros(properties["ActiveEnterTimestampMonotonic"]); entered > 0 && unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		start.At = start.At.Add(entered - time.Duration(now.Nano()))
	}
	return start
}
