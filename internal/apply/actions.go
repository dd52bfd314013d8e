package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/internal/resource"
)

// actions makes everything so that is not a file: modules, parameters, units, commands and checks,
// each as soon as what it requires is so. What requires a failed one is skipped; when the time is
// over, nothing more is begun.
func (r *run) actions(ctx context.Context, order []*node) error {
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		failures []error
		stopped  atomic.Bool
	)
	for _, n := range order {
		begin := wait.Go
		if r.Sequential {
			begin = func(f func()) { f() } // all that it waits for is done already
		}
		begin(func() {
			defer func() { n.ended = r.Now(); close(n.done) }()
			for _, required := range n.requires {
				if <-required.done; !required.ok {
					r.skipped(n.ID())
					return
				}
			}
			if ctx.Err() != nil {
				stopped.Store(true)
				r.skipped(n.ID())
				return
			}
			if err := r.guarded(string(n.ID()), func() error { return r.perform(ctx, n) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, failed(n.Resource, err))
				return
			}
			n.ok = true
		})
	}
	wait.Wait()
	if !r.Sequential { // where everything waits for everything
		r.outcome.report.Critical = r.critical(order)
	}
	if stopped.Load() {
		failures = append(failures, fmt.Errorf("stopped before everything was done: %w", stopCause(ctx)))
	}
	return errors.Join(failures...)
}

// perform makes one resource so.
func (r *run) perform(ctx context.Context, n *node) error {
	switch spec := n.Spec.(type) {
	case *resource.Module:
		return r.module(ctx, n.ID(), spec)
	case *resource.Sysctl:
		return r.sysctl(n.ID(), spec)
	case *resource.Unit:
		return r.unit(ctx, n, spec.Unit)
	case *resource.Command:
		return r.command(ctx, n.ID(), spec)
	case *resource.Check:
		return r.check(ctx, n.ID(), spec)
	}
	return fmt.Errorf("no way to apply a %s", n.Spec.Kind())
}

func (r *run) command(ctx context.Context, id resource.ID, c *resource.Command) error {
	return r.step(string(id), func() error {
		if c.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.Timeout.Std())
			defer cancel()
		}
		output, err := r.Host.Run(ctx, c)
		r.printed(output)
		if err == nil {
			r.changed(id, Ran)
		}
		return err
	})
}

func (r *run) module(ctx context.Context, id resource.ID, m *resource.Module) error {
	loaded, err := r.Host.ModuleLoaded(m.Module)
	if err != nil {
		return err
	}
	if loaded {
		r.unchanged()
		return nil
	}
	return r.step(string(id), func() error {
		if err := r.Host.LoadModule(ctx, m.Module); err != nil {
			return err
		}
		r.changed(id, Loaded)
		return nil
	})
}

func (r *run) sysctl(id resource.ID, s *resource.Sysctl) error {
	same, err := r.sysctlIs(s)
	if s.Optional && errors.Is(err, fs.ErrNotExist) {
		r.skipped(id)
		return nil
	}
	if err != nil {
		return err
	}
	if same {
		r.unchanged()
		return nil
	}
	if err := r.Host.SetSysctl(s.Key, s.Value); err != nil {
		return err
	}
	r.changed(id, Set)
	return nil
}

// sysctlIs reports whether a parameter has its value.
func (r *run) sysctlIs(s *resource.Sysctl) (bool, error) {
	value, err := r.Host.Sysctl(s.Key)
	return value == strings.Join(strings.Fields(s.Value), " "), err
}

func (r *run) check(ctx context.Context, id resource.ID, c *resource.Check) error {
	if c.Unless != "" {
		if there, err := r.written(c.Unless); there || err != nil {
			r.skipped(id)
			return err
		}
	}
	return r.step(string(id), func() error {
		ctx, cancel := context.WithTimeout(ctx, c.Deadline())
		defer cancel()
		err := r.Host.Probe(ctx, c)
		if errors.Is(err, ErrNotProbed) {
			r.skipped(id)
			return nil
		}
		if err == nil {
			r.unchanged()
		}
		return err
	})
}

// unit starts, restarts or stops a unit, or leaves it alone.
func (r *run) unit(ctx context.Context, n *node, unit string) error {
	action, err := r.unitAction(ctx, n, unit)
	if err != nil {
		return err
	}
	do := r.Host.StartUnit
	switch action {
	case Stopped:
		do = r.Host.StopUnit
	case "":
		if n.planned {
			r.unchanged()
		}
		r.settle(unit)
		return nil
	case Restarted:
		do = r.Host.RestartUnit
	}
	return r.step(string(n.ID()), func() error {
		if err := do(ctx, unit); err != nil {
			return err
		}
		if action == joined {
			r.unchanged()
		} else {
			r.changed(n.ID(), action)
		}
		r.settle(unit)
		return nil
	})
}

// unitAction reports what a unit needs: to be started, restarted, stopped, or nothing. One that somebody else is
// just starting, as systemd does at every boot, is waited for; it may have read its inputs before they
// changed.
func (r *run) unitAction(ctx context.Context, n *node, unit string) (Action, error) {
	state, err := r.Host.UnitState(ctx, unit)
	if err != nil {
		return "", err
	}
	active := state.ActiveState == "active" || state.ActiveState == "reloading"
	switch {
	case n.stale && (active || state.ActiveState == "activating"):
		return Stopped, nil
	case n.stale:
		return "", nil
	case r.intent.restarts(unit) && (active || state.ActiveState == "activating"):
		return Restarted, nil
	case !active && n.planned && state.Starting:
		return joined, nil
	case !active && n.planned:
		return Started, nil
	}
	return "", nil
}

// stopCause is why a context is done: that its time is over, or who asked for the end.
func stopCause(ctx context.Context) error {
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		return err
	}
	return context.Cause(ctx)
}
