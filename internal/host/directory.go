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
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

var _ apply.Host = (*Directory)(nil)

// Directory is a host that is only a tree of files. Actions on units and on the kernel are recorded in
// /run/slipway/actions.jsonl below it, one JSON document per line, and are its state: a unit that was started is
// active, a parameter that was set has its value. So the same plan applied again finds nothing to do. The next
// Directory on the tree reads the same record.
type Directory struct {
	*rootfs.Tree
	history history
}

// OpenDirectory opens the tree below root, and creates root if it is missing.
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

// UnitState is active for a unit that was recorded as started and not as stopped since. For others it is the state of a
// missing unit.
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

// UnitEnabled is true for each unit that was not recorded as disabled, so that a plan's change is recorded.
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

// ReloadUnits records the action.
func (d *Directory) ReloadUnits(context.Context) error {
	return d.record(action{Action: actionReload})
}

// StopUnit records the action.
func (d *Directory) StopUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionStop, Unit: unit})
}

// StartUnit records the action.
func (d *Directory) StartUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionStart, Unit: unit})
}

// RestartUnit records the action.
func (d *Directory) RestartUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionRestart, Unit: unit})
}

// ReloadUnit records the action.
func (d *Directory) ReloadUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionReloadUnit, Unit: unit})
}

// MaskUnit records the action.
func (d *Directory) MaskUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionMask, Unit: unit})
}

// UnmaskUnit records the action.
func (d *Directory) UnmaskUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionUnmask, Unit: unit})
}

// EnableUnit records the action.
func (d *Directory) EnableUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionEnable, Unit: unit})
}

// DisableUnit records the action.
func (d *Directory) DisableUnit(_ context.Context, unit string) error {
	return d.record(action{Action: actionDisable, Unit: unit})
}

// Sysctl returns the last recorded value, or "".
func (d *Directory) Sysctl(key string) (string, error) {
	return d.recorded(key, actionSysctl, "")
}

// recorded returns the last value that the action done recorded for a key, or "" if it recorded none or undone came later.
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

// SetSysctl records the action.
func (d *Directory) SetSysctl(key, value string) error {
	if _, err := sysctlPath(key); err != nil {
		return err
	}
	value = fields(value)
	return d.record(action{Action: actionSysctl, Key: key, Value: &value})
}

// ModuleLoaded reports whether loading the module was recorded.
func (d *Directory) ModuleLoaded(module string) (bool, error) {
	return d.did(action{Action: actionModule, Module: module})
}

// LoadModule records the action.
func (d *Directory) LoadModule(_ context.Context, module string) error {
	if _, err := moduleName(module); err != nil {
		return err
	}
	return d.record(action{Action: actionModule, Module: module})
}

// IsDone reports whether running the command was recorded.
func (d *Directory) IsDone(_ context.Context, command *resource.Command) bool {
	done, err := d.did(action{Action: actionCommand, Label: command.Label, Argv: command.Argv})
	return err == nil && done
}

// Run records the action with the names of the environment's variables. It leaves out their values, which may be
// secrets, and the command's input. There is no output.
func (d *Directory) Run(_ context.Context, command *resource.Command) ([]byte, error) {
	return nil, d.record(action{Action: actionCommand, Label: command.Label, Argv: command.Argv, Env: slices.Sorted(maps.Keys(command.Env))})
}

// Probe checks a unit's recorded state, and the content of files. It performs no other check: that would test the machine on which
// the directory happens to be.
func (d *Directory) Probe(ctx context.Context, check *resource.Check) error {
	if check.Manifest != nil || check.Digest != nil {
		return probe.Wait(ctx, d.Tree, nil, check)
	}
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

// NodeName is unknown for a directory.
func (d *Directory) NodeName() (string, error) { return "", apply.ErrNotProbed }

// RequestCertificate requests nothing: the certificate would be for the machine on which the directory happens to be.
func (d *Directory) RequestCertificate(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
	return nil, apply.ErrNotProbed
}

// SelfSign makes nothing: every machine that gets the directory would have the same key.
func (d *Directory) SelfSign(*resource.ServingCertificate) (certificate, key []byte, err error) {
	return nil, nil, apply.ErrNotProbed
}

// FetchAuthority fetches nothing: the result in a directory depends only on the contract and the facts.
func (d *Directory) FetchAuthority(context.Context, *resource.APIServer, func(bundle string) bool) (string, error) {
	return "", apply.ErrNotProbed
}

// FetchKubeletDefaults fetches nothing, for the same reason.
func (d *Directory) FetchKubeletDefaults(context.Context, *resource.AsNode, <-chan struct{}) ([]byte, error) {
	return nil, apply.ErrNotProbed
}

// ReadNode asks no server: a directory has no Node.
func (d *Directory) ReadNode(context.Context, *resource.LeaseRenewed) (*registration.Node, error) {
	return nil, apply.ErrNotProbed
}

// LabelNode changes no Node: a directory has none.
func (d *Directory) LabelNode(context.Context, *resource.LeaseRenewed, map[string]*string) error {
	return apply.ErrNotProbed
}

// AnnotateNode changes no Node: a directory has none.
func (d *Directory) AnnotateNode(context.Context, *resource.FreeName, map[string]string) error {
	return apply.ErrNotProbed
}

// pulled reports whether a recorded start of another unit pulls in this unit, which has no record then
// (systemd.unit(5), ".wants/").
func (d *Directory) pulled(ctx context.Context, unit string) (bool, error) {
	units, err := d.units()
	if err != nil {
		return false, err
	}
	for _, by := range units {
		link, err := d.Stat(resource.UnitDir + "/" + by + ".wants/" + unit)
		if err != nil || link.Kind == apply.Absent {
			continue // it is not a link
		}
		state, err := d.UnitState(ctx, by)
		if err != nil || state.ActiveState == "active" {
			return err == nil, err
		}
	}
	return false, nil
}

// BootTimes are zero: a directory does not boot.
func (d *Directory) BootTimes(context.Context) (BootTimes, error) { return BootTimes{}, nil }

// Snapshot is missing: a directory has no systemd.
func (d *Directory) Snapshot(context.Context) (*Snapshot, error) { return nil, apply.ErrNotProbed }

// WaitProcess does not wait: nothing runs in a directory.
func (d *Directory) WaitProcess(context.Context, string) error { return nil }

// ServiceStart is zero: nothing runs in a directory.
func (d *Directory) ServiceStart(context.Context, string) (time.Time, error) {
	return time.Time{}, nil
}
