package apply

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Running reports whether a unit runs, or is being started.
func (s UnitState) Running() bool { return s.active() || s.ActiveState == "activating" }

func (s UnitState) active() bool { return s.ActiveState == "active" || s.ActiveState == "reloading" }

// compareUnit returns the action that a unit needs: start, restart, reload, or "". If another program is starting it,
// as systemd does at every boot, the engine waits for that. Such a unit may have read its inputs before they changed.
func compareUnit(r *run, ctx context.Context, n *node) (Action, error) {
	unit := n.Spec.Name()
	if file := n.Spec.(*resource.Unit).Ahead; file != "" {
		if there, err := r.written(file); there || err != nil {
			return "", err
		}
	}
	state, err := r.Host.UnitState(ctx, unit)
	switch {
	case err != nil:
		return "", err
	case has(r.intent.Restarts, unit) && state.Running():
		return Restarted, nil
	case !state.active() && n.planned && state.Starting:
		return joined, nil
	case !state.active() && n.planned:
		return Started, nil
	case has(r.intent.Reloads, unit) && state.active():
		return Reloaded, nil
	}
	return "", nil
}

// undoUnit stops a unit.
func undoUnit(r *run, ctx context.Context, n *node) (Action, error) {
	state, err := r.Host.UnitState(ctx, n.Spec.Name())
	if err == nil && state.Running() {
		return Stopped, nil
	}
	return "", err
}

// stopForgotten stops the units that the plan does not have any more and whose files are about to be removed: without
// the file, systemd forgets the unit's stop commands (systemd.service(5), ExecStop=). If a unit does not stop now, the
// later undo tries again and reports the failure.
func (r *run) stopForgotten(ctx context.Context) {
	for _, res := range r.dropped() {
		unit, ok := res.Spec.(*resource.Unit)
		if !ok || !resource.Undone(unit) || !r.removesFilesOf(unit.Unit) {
			continue
		}
		n := &node{Resource: res, stale: true}
		action, err := undoUnit(r, ctx, n)
		if err == nil && action != "" {
			err = bringUnit(r, ctx, n, action)
		}
		if err != nil {
			r.Log.Warn("a unit does not stop before its file is removed", "unit", unit.Unit, "error", err)
		}
	}
}

// removesFilesOf reports whether a unit's file or a drop-in of it is to be removed.
func (r *run) removesFilesOf(unit string) bool {
	path := resource.UnitDir + "/" + unit
	return slices.ContainsFunc(r.wrong, func(d difference) bool {
		return d.action == Removed && (d.Spec.Name() == path || strings.HasPrefix(d.Spec.Name(), path+".d/"))
	})
}

func bringUnit(r *run, ctx context.Context, n *node, action Action) error {
	do := r.Host.StartUnit
	switch action {
	case Stopped:
		do = r.Host.StopUnit
	case Restarted:
		do = r.Host.RestartUnit
	case Reloaded:
		do = r.Host.ReloadUnit
	}
	err := r.step(string(n.ID()), func() error { return do(ctx, n.Spec.Name()) })
	switch {
	case err != nil && action != Stopped && n.Spec.(*resource.Unit).Ahead != "" && ctx.Err() == nil:
		r.Log.Info("a unit has failed that the start of another one runs again", "unit", n.Spec.Name(), "error", err)
		r.skipped(n.ID())
		return nil
	case err != nil:
		return err
	case action == joined:
		r.unchanged()
	default:
		r.changed(n.ID(), action)
	}
	return nil
}

// compareUnitState returns the action that keeps a unit from running, or "".
func compareUnitState(r *run, ctx context.Context, n *node) (Action, error) {
	want := n.Spec.(*resource.UnitState)
	have, err := r.Host.UnitState(ctx, want.Unit)
	if err != nil {
		return "", err
	}
	switch want.State {
	case resource.UnitMasked:
		if have.LoadState != "masked" {
			return Masked, nil
		}
	case resource.UnitDisabled:
		if enabled, err := r.Host.UnitEnabled(ctx, want.Unit); enabled || err != nil {
			return Disabled, err
		}
	}
	if have.Running() {
		return Stopped, nil
	}
	return "", nil
}

// undoUnitState returns the action that restores the unit's earlier state, or "".
func undoUnitState(r *run, ctx context.Context, n *node) (Action, error) {
	spec := n.Spec.(*resource.UnitState)
	have, err := r.Host.UnitState(ctx, spec.Unit)
	switch {
	case err != nil:
		return "", err
	case spec.State == resource.UnitMasked && have.LoadState == "masked":
		return Unmasked, nil
	}
	if slices.Contains(spec.Was, resource.WasEnabled) {
		if enabled, err := r.Host.UnitEnabled(ctx, spec.Unit); !enabled || err != nil {
			return Enabled, err
		}
	}
	if slices.Contains(spec.Was, resource.WasActive) && !have.Running() {
		return Started, nil
	}
	return "", nil
}

// bringUnitState keeps a unit from running, or restores its earlier state.
func bringUnitState(r *run, ctx context.Context, n *node, action Action) error {
	spec := n.Spec.(*resource.UnitState)
	var steps []func(context.Context, string) error
	switch action {
	case Masked:
		steps = append(steps, r.Host.MaskUnit, r.Host.StopUnit)
	case Disabled:
		steps = append(steps, r.Host.DisableUnit, r.Host.StopUnit)
	case Stopped:
		steps = append(steps, r.Host.StopUnit)
	case Unmasked:
		steps = append(steps, r.Host.UnmaskUnit)
		fallthrough
	case Enabled:
		if spec.State == resource.UnitDisabled && slices.Contains(spec.Was, resource.WasEnabled) {
			steps = append(steps, r.Host.EnableUnit)
		}
		fallthrough
	case Started:
		if slices.Contains(spec.Was, resource.WasActive) {
			steps = append(steps, r.Host.StartUnit)
		}
	}
	return r.does(n, action, func() error {
		for _, step := range steps {
			if err := step(ctx, spec.Unit); err != nil {
				return err
			}
		}
		return nil
	})
}

// Hold keeps a unit from being started: by later boots, and by this one if it only waits for its start. If it runs, it continues to run.
func Hold(ctx context.Context, host Host, unit string) error {
	err := host.DisableUnit(ctx, unit)
	state, stateErr := host.UnitState(ctx, unit)
	if stateErr != nil || state.ActiveState != "inactive" {
		return errors.Join(err, stateErr)
	}
	return errors.Join(err, host.StopUnit(ctx, unit)) // systemd then cancels a start that waits for other units
}
