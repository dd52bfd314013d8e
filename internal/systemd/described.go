package systemd

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Described are systemd's own times of a boot, and those of its units with their order, as D-Bus has them: times in microseconds.
type Described struct {
	Manager map[string]any   `json:"manager"`
	Units   []map[string]any `json:"units"`
}

// describedManager, describedUnit and describedType are the properties of systemd, of each unit, and of each unit of a type that can
// fail.
var (
	describedManager = withClocks("Firmware", "Loader", "Kernel", "InitRD", "Userspace", "SecurityStart", "SecurityFinish",
		"GeneratorsStart", "GeneratorsFinish", "UnitsLoadStart", "UnitsLoadFinish", "Finish")
	describedUnit    = append(withClocks("InactiveExit", "ActiveEnter", "InactiveEnter"), "After", "ActiveState")
	describedService = append(withClocks("ExecMainStart", "ExecMainExit"), "Result")
)

// withClocks names the properties of times on both clocks.
func withClocks(names ...string) []string {
	var properties []string
	for _, name := range names {
		properties = append(properties, name+"Timestamp", name+"TimestampMonotonic")
	}
	return properties
}

// maxDescribed limits the units that are described. A machine with many pods has a few thousand.
const maxDescribed = 10_000

// Describe returns the times of the boot, and of all units that systemd has in memory and that have started.
func (m *Manager) Describe(ctx context.Context) (Described, error) {
	manager, err := m.properties(ctx, ManagerObject, managerInterface, describedManager...)
	if err != nil {
		return Described{}, fmt.Errorf("times of the boot: %w", err)
	}
	d := Described{Manager: manager}
	var names []string
	err = m.do(ctx, func(conn Bus) (err error) {
		names, err = conn.List(ctx)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("list of units: %w", err)
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxDescribed)] {
		unit, err := m.describe(ctx, name)
		if errors.Is(err, ErrNoUnit) {
			continue // it is gone since
		}
		if err != nil {
			return d, fmt.Errorf("times of %s: %w", name, err)
		}
		if unit != nil {
			d.Units = append(d.Units, unit)
		}
	}
	return d, nil
}

// describe returns a unit's properties, or nil if it has never started.
func (m *Manager) describe(ctx context.Context, name string) (map[string]any, error) {
	unit, err := m.loaded(ctx, name, unitInterface, describedUnit...)
	if err != nil {
		return nil, err
	}
	if started, _ := unit["InactiveExitTimestampMonotonic"].(uint64); started == 0 {
		return nil, nil
	}
	if iface := typeInterface(name); iface == typeInterface("a.service") {
		service, err := m.loaded(ctx, name, iface, describedService...)
		if err != nil {
			return nil, err
		}
		for _, property := range describedService {
			if value, has := service[property]; has {
				unit[property] = value
			}
		}
	}
	unit["Id"] = name
	return unit, nil
}
