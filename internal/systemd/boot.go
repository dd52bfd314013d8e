package systemd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// BootTimes are the times of this boot's stages, from systemd. A zero time or duration means that the stage has not
// happened yet, or does not exist here: a VM without an initrd has no initrd time.
//
// The times follow the clock when systemd started, which may have been wrong: a VM's clock is often set later. That
// does not affect the durations.
type BootTimes struct {
	Kernel time.Time // the kernel started

	// Durations after the kernel's start.
	InitRDAfter    time.Duration // systemd started in the initrd
	UserspaceAfter time.Duration // systemd started on the root file system
	FinishAfter    time.Duration // all units of the boot were started

	// Durations before the kernel's start.
	FirmwareBefore time.Duration // the firmware started
	LoaderBefore   time.Duration // the boot loader started
}

// bootProperties are the manager's properties with the boot's times.
var bootProperties = []string{
	"KernelTimestamp", "InitRDTimestampMonotonic", "UserspaceTimestampMonotonic", "FinishTimestampMonotonic",
	"FirmwareTimestampMonotonic", "LoaderTimestampMonotonic",
}

// BootTimes returns the times of this boot from systemd.
func (m *Manager) BootTimes(ctx context.Context) (BootTimes, error) {
	properties, err := m.properties(ctx, ManagerObject, managerInterface, bootProperties...)
	if err != nil {
		return BootTimes{}, fmt.Errorf("boot times: %w", err)
	}
	after := func(name string) time.Duration { return micros(properties[name+"TimestampMonotonic"]) }
	return BootTimes{
		Kernel:         microTime(properties["KernelTimestamp"]),
		InitRDAfter:    after("InitRD"),
		UserspaceAfter: after("Userspace"),
		FinishAfter:    after("Finish"),
		FirmwareBefore: after("Firmware"),
		LoaderBefore:   after("Loader"),
	}, nil
}

// ServiceStart returns when the main process of a service last started. It is zero if the service never started, or
// does not exist.
func (m *Manager) ServiceStart(ctx context.Context, unit string) (time.Time, error) {
	if err := checkUnit(unit); err != nil {
		return time.Time{}, err
	}
	if !strings.HasSuffix(unit, ".service") {
		return time.Time{}, fmt.Errorf("unit %s: is not a service, and has no start time", unit)
	}
	const property = "ExecMainStartTimestamp"
	properties, err := m.loaded(ctx, unit, typeInterface(unit), property)
	if errors.Is(err, ErrNoUnit) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("start time of %s: %w", unit, err)
	}
	return microTime(properties[property]), nil
}

// properties reads named properties of an object's interface.
func (m *Manager) properties(ctx context.Context, object, iface string, names ...string) (map[string]any, error) {
	var properties map[string]any
	err := m.do(ctx, func(conn Bus) (err error) {
		properties, err = conn.Properties(ctx, object, iface, names...)
		return err
	})
	return properties, err
}

// loaded is properties for a unit that systemd has in memory. If it has not, the unit was not started and need not be
// read: the error is ErrNoUnit.
func (m *Manager) loaded(ctx context.Context, unit, iface string, names ...string) (map[string]any, error) {
	var properties map[string]any
	err := m.do(ctx, func(conn Bus) error {
		err := conn.Loaded(ctx, unit)
		if err == nil {
			properties, err = conn.Properties(ctx, UnitObject(unit), iface, names...)
		}
		return err
	})
	return properties, err
}

// microTime is a time as systemd reports it: microseconds since 1970, 0 for never.
func microTime(property any) time.Time {
	usec, _ := property.(uint64)
	if usec == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(usec)).UTC()
}

func micros(property any) time.Duration {
	usec, _ := property.(uint64)
	return time.Duration(usec) * time.Microsecond
}
