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
	// BootID and Hostname are the kernel's. systemd does not have them; internal/host adds them.
	BootID   string           `json:"bootID,omitempty"`
	Hostname string           `json:"hostname,omitempty"`
	Manager  map[string]any   `json:"manager"`
	Units    []map[string]any `json:"units"`
}

// idleKinds are the kinds of units that do nothing, and of which a node has many.
var idleKinds = []string{".scope", ".slice"}

// maxUnits limits the units of a snapshot. A node with 250 pods has some 2,000 mounts and slices.
const maxUnits = 2000

// Those of a snapshot. No property of a unit with a command line or an environment is one of them. Times are in microseconds.
var (
	snapshotManager = append(withClocks("Firmware", "Loader", "Kernel", "InitRD", "Userspace", "SecurityStart", "SecurityFinish",
		"GeneratorsStart", "GeneratorsFinish", "UnitsLoadStart", "UnitsLoadFinish", "Finish"),
		"Version", "SystemState", "NNames", "NJobs", "NFailedUnits", "Virtualization", "Tainted")
	snapshotUnit = append(withClocks("InactiveExit", "ActiveEnter", "ActiveExit", "InactiveEnter"),
		"Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "DropInPaths", "After", "NeedDaemonReload")
	snapshotService = append(withClocks("ExecMainStart", "ExecMainExit"), "Result", "NRestarts", "ExecMainCode", "ExecMainStatus")
)

// withClocks names the properties of times on both clocks.
func withClocks(names ...string) []string {
	var properties []string
	for _, name := range names {
		properties = append(properties, name+"Timestamp", name+"TimestampMonotonic")
	}
	return properties
}

// Snapshot returns what systemd knows of itself, and of its units, by name, without those of idleKinds.
func (m *Manager) Snapshot(ctx context.Context) (*Snapshot, error) {
	var s Snapshot
	err := m.do(ctx, func(conn Bus) (err error) {
		s = Snapshot{}
		if s.Manager, err = conn.Properties(ctx, ManagerObject, managerInterface, snapshotManager...); len(s.Manager) == 0 {
			return err
		}
		listed, err := conn.List(ctx)
		if err != nil {
			return err
		}
		var units []string
		for i := range listed {
			if u := &listed[i]; u.Load != "not-found" && !slices.Contains(idleKinds, path.Ext(u.Name)) {
				units = append(units, u.Name)
			}
		}
		slices.Sort(units)
		for _, unit := range units[:min(len(units), maxUnits)] {
			// A unit can be gone by now, and an older systemd lacks some properties.
			properties, _ := conn.Properties(ctx, UnitObject(unit), unitInterface, snapshotUnit...)
			if len(properties) == 0 {
				continue
			}
			if typeInterface(unit) == typeInterface("a.service") {
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
