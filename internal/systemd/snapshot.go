package systemd

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Snapshot is what systemd knows of itself and of its units. The names of properties are those of D-Bus (org.freedesktop.systemd1(5)).
type Snapshot struct {
	Manager map[string]any   `json:"manager"`
	Units   []map[string]any `json:"units"`
}

// idleKinds are the kinds of units that do nothing, and of which a node has many.
var idleKinds = []string{".device", ".scope", ".slice"}

// maxUnits limits the units of a snapshot. A node with 250 pods has some 2,000 mounts and slices.
const maxUnits = 1000

// Those of a snapshot. No property of a unit with a command line or an environment is one of them.
var (
	snapshotManager = []string{
		"Version", "SystemState", "NNames", "NJobs", "NFailedUnits", "Virtualization", "Tainted",
		"FirmwareTimestampMonotonic", "LoaderTimestampMonotonic", "KernelTimestamp", "KernelTimestampMonotonic",
		"InitRDTimestamp", "InitRDTimestampMonotonic", "UserspaceTimestamp", "UserspaceTimestampMonotonic", "FinishTimestamp", "FinishTimestampMonotonic",
		"SecurityStartTimestampMonotonic", "SecurityFinishTimestampMonotonic", "GeneratorsStartTimestampMonotonic",
		"GeneratorsFinishTimestampMonotonic", "UnitsLoadStartTimestampMonotonic", "UnitsLoadFinishTimestampMonotonic",
	}
	snapshotUnit = []string{
		"Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "DropInPaths", "After", "NeedDaemonReload",
		"InactiveExitTimestamp", "InactiveExitTimestampMonotonic", "ActiveEnterTimestamp", "ActiveEnterTimestampMonotonic",
		"ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic",
	}
	snapshotService = []string{"Result", "NRestarts", "ExecMainStartTimestamp", "ExecMainStartTimestampMonotonic", "ExecMainExitTimestampMonotonic", "ExecMainCode", "ExecMainStatus"}
)

// Snapshot returns what systemd knows of itself, and of its units, by name, without those of idleKinds.
func (m *Manager) Snapshot(ctx context.Context) (*Snapshot, error) {
	var s Snapshot
	err := m.do(ctx, func(conn Bus) (err error) {
		s = Snapshot{}
		if s.Manager, err = conn.Properties(ctx, ManagerObject, managerInterface, snapshotManager...); len(s.Manager) == 0 {
			return err
		}
		units, err := conn.List(ctx)
		if err != nil {
			return err
		}
		slices.Sort(units)
		units = slices.DeleteFunc(units, func(unit string) bool { return slices.Contains(idleKinds, path.Ext(unit)) })
		for _, unit := range units[:min(len(units), maxUnits)] {
			// A unit can be gone by now, and an older systemd lacks some properties.
			properties, _ := conn.Properties(ctx, UnitObject(unit), unitInterface, snapshotUnit...)
			if typeInterface(unit) == "org.freedesktop.systemd1.Service" {
				more, _ := conn.Properties(ctx, UnitObject(unit), typeInterface(unit), snapshotService...)
				maps.Copy(properties, more)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			maps.DeleteFunc(properties, func(_ string, value any) bool { return value == nil })
			s.Units = append(s.Units, properties)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list systemd's units: %w", err)
	}
	return &s, nil
}
