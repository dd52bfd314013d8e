package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

var _ apply.Host = (*Machine)(nil)

// Machine is the machine that the agent runs on, as its superuser.
type Machine struct {
	*Tree
	systemd *systemd
	// journalctl is the program that shows the journal; "journalctl" where it is empty.
	journalctl string
}

// OpenMachine opens this machine. systemd is connected to when it is first needed, so a machine
// without it is an error only then.
func OpenMachine() (*Machine, error) {
	tree, err := openTree("/")
	if err != nil {
		return nil, err
	}
	return &Machine{Tree: tree, systemd: newSystemd(connectSystemd)}, nil
}

// Close releases what the machine was opened with.
func (m *Machine) Close() error {
	m.systemd.close()
	return m.Tree.Close()
}

// UnitState reports a unit's state. A unit that does not exist has ActiveState "inactive" and
// LoadState "not-found".
func (m *Machine) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	return m.systemd.state(ctx, unit)
}

// NeedReload reports whether systemd has one of the units in memory in another form than its files have
// now.
func (m *Machine) NeedReload(ctx context.Context, units []string) (bool, error) {
	for _, unit := range units {
		path := resource.UnitDir + "/" + unit
		own, err := m.Stat(path)
		if err != nil {
			return false, err
		}
		fragment := ""
		if own.Kind != apply.Absent {
			fragment = path
		}
		stale, err := m.systemd.stale(ctx, unit, fragment)
		if err != nil || stale {
			return stale, err
		}
	}
	return false, nil
}

// ReloadUnits makes systemd read its unit files again, and returns when it has.
func (m *Machine) ReloadUnits(ctx context.Context) error { return m.systemd.reload(ctx) }

// StartUnit starts a unit and waits until its job is done, which is at once where it is active. When
// ctx is done before, the job goes on. The error of a unit that fails is a *UnitError where its journal
// has something to say.
func (m *Machine) StartUnit(ctx context.Context, unit string) error {
	return m.job(ctx, startMethod, unit)
}

// RestartUnit restarts a unit, or starts it, and waits until its job is done. When ctx is done
// before, the job goes on. Its error is as StartUnit's.
func (m *Machine) RestartUnit(ctx context.Context, unit string) error {
	return m.job(ctx, restartMethod, unit)
}

// StopUnit stops a unit and waits until its job is done, which is at once where it does not run. One
// that there is no unit file of, and nothing runs of, is stopped. When ctx is done before, the job goes
// on.
func (m *Machine) StopUnit(ctx context.Context, unit string) error {
	err := m.job(ctx, stopMethod, unit)
	if errors.Is(err, errNoUnit) {
		return nil
	}
	return err
}

// Probe waits until a check is true, for as long as ctx and the check's own timeout let it. Its
// error is a *apply.CheckError.
func (m *Machine) Probe(ctx context.Context, check *resource.Check) error {
	ctx, cancel := context.WithTimeout(ctx, check.Deadline())
	defer cancel()
	switch {
	case check.UnitActive != "":
		return m.probeUnit(ctx, check)
	case check.APIServer != nil:
		return defaultProber.probe(ctx, check.APIServer)
	case check.RuntimeReady != nil:
		return probeRuntime(ctx, check.RuntimeReady)
	case check.Healthz != nil:
		return probeHealthz(ctx, check.Healthz)
	case check.LeaseRenewed != nil:
		return defaultProber.probeLease(ctx, check.LeaseRenewed, m.readLinked)
	case check.PathExists != "":
		if _, err := m.waitForFiles(ctx, []string{check.PathExists}); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("does not exist: %w", err)
			}
			return &apply.CheckError{Cause: resource.CauseMissing, Endpoint: check.PathExists, Err: err}
		}
		return nil
	}
	return fmt.Errorf("check %q: checks nothing", check.Label)
}

// probeUnit waits until a unit is active, and for as long as it must stay so.
func (m *Machine) probeUnit(ctx context.Context, check *resource.Check) error {
	err := m.systemd.waitActive(ctx, check.UnitActive)
	if err == nil && check.Steady > 0 {
		err = m.systemd.staysActive(ctx, check)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, errUnsettled) {
		err = m.withLog(ctx, check.UnitActive, err)
	}
	return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: check.UnitActive, Err: err}
}
