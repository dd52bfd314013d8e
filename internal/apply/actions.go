package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/resource"
)

// actions makes everything so that is not a file: modules, parameters, units, commands and checks,
// each as soon as what it requires is so. What requires a failed one is skipped.
func (r *run) actions(ctx context.Context) error {
	nodes, order, err := r.graph()
	if err != nil {
		return err
	}
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		failures []error
	)
	for _, id := range order {
		n := nodes[id]
		begin := wait.Go
		if r.Sequential {
			begin = func(f func()) { f() } // all that it waits for is done already
		}
		begin(func() {
			defer close(n.done)
			for _, required := range n.requires {
				if <-required.done; !required.ok {
					r.skipped(id)
					return
				}
			}
			if err := r.guarded(ctx, n.Resource); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, failed(n.Resource, err))
				return
			}
			n.ok = true
		})
	}
	wait.Wait()
	return errors.Join(failures...)
}

// node is a resource among those it requires. ok may be read once done is closed.
type node struct {
	resource.Resource
	requires []*node
	done     chan struct{}
	ok       bool
}

// graph links the plan's actions, and returns them in an order in which each comes after what it
// requires. A unit whose inputs changed although the plan does not start it is restarted too.
func (r *run) graph() (map[resource.ID]*node, []resource.ID, error) {
	nodes := make(map[resource.ID]*node)
	var ids []resource.ID
	add := func(res resource.Resource) {
		if _, twice := nodes[res.ID()]; !twice {
			nodes[res.ID()] = &node{Resource: res, done: make(chan struct{})}
			ids = append(ids, res.ID())
		}
	}
	for _, res := range r.plan.Resources {
		switch res.Spec.(type) {
		case *resource.File, *resource.Directory, *resource.Symlink:
		default:
			add(res)
		}
	}
	for _, unit := range r.intent.Restarts {
		add(resource.Resource{Reason: onlyIfActive, Spec: &resource.Unit{Unit: unit}})
	}
	state := make(map[resource.ID]int) // 1 while visiting, 2 when visited
	var order []resource.ID
	var visit func(id resource.ID) error
	visit = func(id resource.ID) error {
		n := nodes[id]
		if state[id] == 2 {
			return nil
		}
		if state[id] == 1 {
			return fmt.Errorf("plan has a cycle of requirements through %s", id)
		}
		state[id] = 1
		for _, required := range n.Requires {
			if nodes[required] == nil {
				continue // of a phase that is not applied, or a file
			}
			if err := visit(required); err != nil {
				return err
			}
			n.requires = append(n.requires, nodes[required])
		}
		state[id] = 2
		order = append(order, id)
		return nil
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := visit(id); err != nil {
			return nil, nil, err
		}
	}
	return nodes, order, nil
}

// onlyIfActive marks a unit that the plan does not start.
const onlyIfActive = "inputs changed"

// guarded is perform, with a panic turned into an error: it would end the process otherwise, and with
// it the result that somebody waits for.
func (r *run) guarded(ctx context.Context, res resource.Resource) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			r.Log.Error("panic", "resource", string(res.ID()), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			err = fmt.Errorf("the agent has a defect, please report it with the log: panic: %v", cause)
		}
	}()
	return r.perform(ctx, res)
}

// perform makes one resource so.
func (r *run) perform(ctx context.Context, res resource.Resource) error {
	switch spec := res.Spec.(type) {
	case *resource.Module:
		return r.module(ctx, res.ID(), spec)
	case *resource.Sysctl:
		return r.sysctl(res.ID(), spec)
	case *resource.Unit:
		return r.unit(ctx, res, spec.Unit)
	case *resource.Command:
		return r.step(string(res.ID()), func() error {
			ctx, cancel := context.WithTimeout(ctx, spec.Timeout.Std())
			defer cancel()
			output, err := r.Host.Run(ctx, spec)
			r.printed(output)
			if err == nil {
				r.changed(res.ID(), Ran)
			}
			return err
		})
	case *resource.Check:
		return r.check(ctx, res.ID(), spec)
	}
	return fmt.Errorf("no way to apply a %s", res.Spec.Kind())
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
	value, err := r.Host.Sysctl(s.Key)
	if s.Optional && errors.Is(err, fs.ErrNotExist) {
		r.skipped(id)
		return nil
	}
	if err != nil {
		return err
	}
	if value == s.Value {
		r.unchanged()
		return nil
	}
	if err := r.Host.SetSysctl(s.Key, s.Value); err != nil {
		return err
	}
	r.changed(id, Set)
	return nil
}

func (r *run) check(ctx context.Context, id resource.ID, c *resource.Check) error {
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

// unit starts or restarts a unit, or leaves it alone.
func (r *run) unit(ctx context.Context, res resource.Resource, unit string) error {
	action, err := r.unitAction(ctx, unit)
	if err != nil {
		return err
	}
	if action == Started && res.Reason == onlyIfActive {
		return nil
	}
	do := r.Host.StartUnit
	switch action {
	case "":
		r.unchanged()
		return nil
	case Restarted:
		do = r.Host.RestartUnit
	}
	return r.step(string(res.ID()), func() error {
		if err := do(ctx, unit); err != nil {
			return err
		}
		r.changed(res.ID(), action)
		return nil
	})
}

// unitAction tells what a unit needs: to be started, restarted, or nothing.
func (r *run) unitAction(ctx context.Context, unit string) (Action, error) {
	state, err := r.Host.UnitState(ctx, unit)
	switch {
	case err != nil:
		return "", err
	case state.ActiveState != "active" && state.ActiveState != "reloading":
		return Started, nil
	case r.intent.restarts(unit):
		return Restarted, nil
	}
	return "", nil
}
