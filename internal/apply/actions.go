package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/internal/resource"
)

// actions applies everything that is not a file: modules, parameters, units, commands and checks, each as soon as its
// requirements are met. It skips what requires a failed one. After the timeout it begins nothing more.
func (r *run) actions(ctx context.Context, order []*node) error {
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		failures []error
		stopped  atomic.Bool
	)
	r.order = order
	for _, n := range order {
		begin := wait.Go
		if r.Sequential {
			begin = func(f func()) { f() } // everything it requires is already done
		}
		begin(func() {
			defer func() { n.ended = r.Now(); close(n.done) }()
			for _, required := range n.requires {
				if <-required.done; !required.ok {
					r.skipped(n.ID())
					return
				}
			}
			for _, before := range n.after {
				<-before.done
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
	if !r.Sequential { // in a sequential run each action waits for the one before
		r.outcome.report.Critical = r.critical(order)
	}
	if stopped.Load() {
		failures = append(failures, fmt.Errorf("stopped before everything was done: %w", stopCause(ctx)))
	}
	return errors.Join(failures...)
}

// needs reports which action a resource needs, or "".
func (r *run) needs(ctx context.Context, n *node) (Action, error) {
	kind := liveKinds[n.Spec.Kind()]
	if n.stale {
		return kind.undo(r, ctx, n)
	}
	return kind.compare(r, ctx, n)
}

// perform applies one resource.
func (r *run) perform(ctx context.Context, n *node) error {
	action, err := r.needs(ctx, n)
	switch {
	case err != nil:
		return err
	case action == missing:
		r.skipped(n.ID())
		return nil
	case action == Ran && r.defers(n):
		r.record(func(rep *Report) { rep.Owed = append(rep.Owed, n.Resource) })
		return nil
	case action == "":
		if n.planned {
			r.unchanged()
		}
	default:
		if err := n.finishOthers(action); err != nil {
			return err
		}
		if err := r.writeLate(ctx, n, action); err != nil {
			return err
		}
		if err := liveKinds[n.Spec.Kind()].bring(r, ctx, n, action); err != nil {
			return err
		}
	}
	r.settle(n.Spec.Name())
	return nil
}

// mayStart reports whether a node can start a unit: the unit's node, or a command of the author's that replaces it.
func (n *node) mayStart() bool {
	switch n.Spec.(type) {
	case *resource.Unit, *resource.Command:
		return true
	}
	return false
}

// finishOthers runs the last steps of the nodes that come before a start. It runs before the node that starts the
// kubelet: a unit, or a command.
func (n *node) finishOthers(action Action) error {
	if !n.mayStart() || action != Started && action != Ran {
		return nil
	}
	for _, before := range n.after {
		if before.last == nil {
			continue
		}
		if err := before.last(); err != nil {
			return failed(before.Resource, err)
		}
	}
	return nil
}

// writeLate writes the files with a late decision, if a node starts the unit that reads them.
func (r *run) writeLate(ctx context.Context, n *node, action Action) error {
	unit, ok := n.Spec.(*resource.Unit)
	if !ok || r.Late == nil || unit.Unit != r.Late.Unit || action != Started {
		return nil
	}
	return r.step("cluster's kubelet settings", func() error {
		files, err := r.Late.Files(ctx)
		if err != nil || len(files) == 0 {
			return err
		}
		known := len(r.intent.Paths)
		for _, file := range files {
			r.intent.also(file.Paths())
		}
		if len(r.intent.Paths) > known {
			if err := r.announce(); err != nil {
				return err
			}
		}
		if err := r.writeOwn(files...); err != nil {
			return err
		}
		for _, file := range files {
			if id := resource.IDOf(file); !slices.ContainsFunc(r.wrong, func(d difference) bool { return d.ID() == id }) {
				r.changed(id, Updated)
			}
		}
		return nil
	})
}

// does performs a slow action, times it, and records it as a change.
func (r *run) does(n *node, action Action, do func() error) error {
	return r.step(string(n.ID()), func() error {
		err := do()
		if err == nil {
			r.changed(n.ID(), action)
		}
		return err
	})
}

// stopCause returns why a context is done: its timeout, or the signal that ended it.
func stopCause(ctx context.Context) error {
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		return err
	}
	return context.Cause(ctx)
}
