package systemd

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// The manager's methods that change which units start at boot, or can be started at all (org.freedesktop.systemd1(5)).
const (
	maskMethod    = "MaskUnitFiles"
	unmaskMethod  = "UnmaskUnitFiles"
	enableMethod  = "EnableUnitFiles"
	disableMethod = "DisableUnitFiles"
)

// unitFileMethods are those methods, by kind of change.
var unitFileMethods = map[failpoint.Kind]string{
	failpoint.Mask: maskMethod, failpoint.Unmask: unmaskMethod, failpoint.Enable: enableMethod, failpoint.Disable: disableMethod,
}

// MaskUnit prevents every start of a unit. A unit with an administrator's file, in /etc, cannot be masked.
func (m *Manager) MaskUnit(ctx context.Context, unit string) error {
	return m.unitFile(ctx, failpoint.Mask, unit)
}

// UnmaskUnit allows a unit to be started again.
func (m *Manager) UnmaskUnit(ctx context.Context, unit string) error {
	return m.unitFile(ctx, failpoint.Unmask, unit)
}

// EnableUnit makes a unit start at boot, as its file defines.
func (m *Manager) EnableUnit(ctx context.Context, unit string) error {
	return m.unitFile(ctx, failpoint.Enable, unit)
}

// DisableUnit removes the unit's links that start it at boot. Another unit may still start it.
func (m *Manager) DisableUnit(ctx context.Context, unit string) error {
	return m.unitFile(ctx, failpoint.Disable, unit)
}

// unitFile changes a unit's links on the disk, and makes systemd read its units again. Each change may be repeated.
func (m *Manager) unitFile(ctx context.Context, kind failpoint.Kind, unit string) error {
	if err := checkUnit(unit); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	err := m.do(ctx, func(conn Bus) error {
		return failpoint.Pass(failpoint.Change{Kind: kind, Name: unit}, func() error { return conn.UnitFile(ctx, unitFileMethods[kind], unit) })
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, unit, err)
	}
	return m.ReloadUnits(ctx)
}
