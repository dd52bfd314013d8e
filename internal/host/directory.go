package host

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

var _ apply.Host = (*Directory)(nil)

// Directory is a host that is only a tree of files. Actions on units and on the kernel are recorded
// in /run/slipway/actions.jsonl below it, a JSON document a line, and are its state: a unit that was
// started is active, a parameter that was set has its value. So the same plan applied again finds
// nothing to do. What was recorded by one Directory holds for the next.
type Directory struct {
	*rootfs.Tree
	history history
}

// OpenDirectory opens the tree below root, which is made if it is missing.
func OpenDirectory(root string) (*Directory, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, rootfs.Failed("make root", root, err)
	}
	tree, err := rootfs.Open(root)
	if err != nil {
		return nil, err
	}
	return &Directory{Tree: tree}, nil
}

// UnitState is active for a unit that was recorded as started, and not as stopped since; for others it is
// that of a unit that does not exist.
func (d *Directory) UnitState(_ context.Context, unit string) (apply.UnitState, error) {
	state := apply.UnitState{LoadState: "not-found", ActiveState: "inactive", SubState: "dead"}
	actions, err := d.about(unit)
	if err != nil {
		return apply.UnitState{}, err
	}
	masked := false
	for _, a := range actions {
		switch a.Action {
		case actionStop:
			state.LoadState, state.ActiveState, state.SubState = "not-found", "inactive", "dead"
		case actionStart, actionRestart:
			state.LoadState, state.ActiveState, state.SubState = "loaded", "active", "running"
		case actionMask, actionUnmask:
			masked = a.Action == actionMask
		}
	}
	if masked {
		state.LoadState = "masked"
	}
	return state, nil
}

// UnitEnabled is true for each unit that was not recorded as disabled: what would be done is recorded.
func (d *Directory) UnitEnabled(_ context.Context, unit string) (bool, error) {
	actions, err := d.about(unit)
	enabled := true
	for _, a := range actions {
		if a.Action == actionEnable || a.Action == actionDisable {
			enabled = a.Action == actionEnable
		}
	}
	return enabled, err
}

// NeedReload reports whether one of the units was recorded as started.
func (d *Directory) NeedReload(ctx context.Context, units []string) (bool, error) {
	for _, unit := range units {
		state, err := d.UnitState(ctx, unit)
		if err != nil || state.LoadState == "loaded" {
			return err == nil, err
		}
	}
	return false, nil
}

// ReloadUnits is recorded.
func (d *Directory) ReloadUnits(context.Context) error {
	return d.record(action{Action: actionReload})
}

// StopUnit is recorded.
func (d *Directory) StopUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionStop, Unit: unit})
}

// StartUnit is recorded.
func (d *Directory) StartUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionStart, Unit: unit})
}

// RestartUnit is recorded.
func (d *Directory) RestartUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionRestart, Unit: unit})
}

// ReloadUnit is recorded.
func (d *Directory) ReloadUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionReloadUnit, Unit: unit})
}

// MaskUnit is recorded.
func (d *Directory) MaskUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionMask, Unit: unit})
}

// UnmaskUnit is recorded.
func (d *Directory) UnmaskUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionUnmask, Unit: unit})
}

// EnableUnit is recorded.
func (d *Directory) EnableUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionEnable, Unit: unit})
}

// DisableUnit is recorded.
func (d *Directory) DisableUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionDisable, Unit: unit})
}

// Sysctl returns the value that was recorded last, or "" where none was.
func (d *Directory) Sysctl(key string) (string, error) {
	return d.recorded(key, actionSysctl, "")
}

// recorded is the value that was recorded last for a key by one action, and not since undone by another; "" for none.
func (d *Directory) recorded(key, done, undone string) (string, error) {
	actions, err := d.about(key)
	if err != nil {
		return "", err
	}
	for _, a := range slices.Backward(actions) {
		switch a.Action {
		case done:
			return *a.Value, nil
		case undone:
			return "", nil
		}
	}
	return "", nil
}

// SetSysctl is recorded.
func (d *Directory) SetSysctl(key, value string) error {
	if _, err := sysctlPath(key); err != nil {
		return err
	}
	value = fields(value)
	return d.record(action{Action: actionSysctl, Key: key, Value: &value})
}

// ModuleLoaded reports whether the module was recorded.
func (d *Directory) ModuleLoaded(module string) (bool, error) {
	return d.did(action{Action: actionModule, Module: module})
}

// LoadModule is recorded.
func (d *Directory) LoadModule(_ context.Context, module string) error {
	if _, err := moduleName(module); err != nil {
		return err
	}
	return d.record(action{Action: actionModule, Module: module})
}

// IsDone reports whether the command was recorded.
func (d *Directory) IsDone(_ context.Context, command *resource.Command) bool {
	done, err := d.did(action{Action: actionCommand, Label: command.Label, Argv: command.Argv})
	return err == nil && done
}

// Run is recorded, with the names of the environment's variables and without their values, which may be secrets, and
// without what it reads. There is no output.
func (d *Directory) Run(_ context.Context, command *resource.Command) ([]byte, error) {
	return nil, d.record(action{Action: actionCommand, Label: command.Label, Argv: command.Argv, Env: slices.Sorted(maps.Keys(command.Env))})
}

// Probe looks at a unit's recorded state. Every other check is not performed: it would be about the
// machine that the directory happens to be on.
func (d *Directory) Probe(ctx context.Context, check *resource.Check) error {
	if check.UnitActive == "" || check.Foreign {
		return apply.ErrNotProbed
	}
	state, err := d.UnitState(ctx, check.UnitActive)
	if err == nil && state.ActiveState != "active" {
		if pulled, pullErr := d.pulled(ctx, check.UnitActive); pulled || pullErr != nil {
			return cmp.Or(pullErr, apply.ErrNotProbed)
		}
		err = errors.New("was never started")
	}
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: check.UnitActive, Err: err}
	}
	return nil
}

// NodeName is not known of a directory.
func (d *Directory) NodeName() (string, error) { return "", apply.ErrNotProbed }

// RequestCertificate asks nobody: the certificate would be that of the machine that the directory happens to be on.
func (d *Directory) RequestCertificate(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
	return nil, apply.ErrNotProbed
}

// SelfSign makes nothing: the key would be that of every machine that gets the directory.
func (d *Directory) SelfSign(*resource.ServingCertificate) (certificate, key []byte, err error) {
	return nil, nil, apply.ErrNotProbed
}

// FetchAuthority asks nobody: what a directory becomes depends on nothing but the contract and the facts.
func (d *Directory) FetchAuthority(context.Context, *resource.APIServer, func(bundle string) bool) (string, error) {
	return "", apply.ErrNotProbed
}

// FetchKubeletDefaults asks no server, for the same reason.
func (d *Directory) FetchKubeletDefaults(context.Context, *resource.AsNode, <-chan struct{}) ([]byte, error) {
	return nil, apply.ErrNotProbed
}

// AnnotateNode changes no Node: a directory has none.
func (d *Directory) AnnotateNode(context.Context, *resource.FreeName, map[string]string) error {
	return apply.ErrNotProbed
}

// pulled reports whether a unit that was started pulls in another one, which no record names then (systemd.unit(5),
// ".wants/").
func (d *Directory) pulled(ctx context.Context, unit string) (bool, error) {
	units, err := d.units()
	if err != nil {
		return false, err
	}
	for _, by := range units {
		link, err := d.Stat(resource.UnitDir + "/" + by + ".wants/" + unit)
		if err != nil || link.Kind == apply.Absent {
			continue // whatever is in its place is no link
		}
		state, err := d.UnitState(ctx, by)
		if err != nil || state.ActiveState == "active" {
			return err == nil, err
		}
	}
	return false, nil
}

// BootTimes are all zero: a directory does not boot.
func (d *Directory) BootTimes(context.Context) (BootTimes, error) { return BootTimes{}, nil }

// ServiceStart is zero: nothing runs in a directory.
func (d *Directory) ServiceStart(context.Context, string) (time.Time, error) {
	return time.Time{}, nil
}
