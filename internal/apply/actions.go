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
	r.order = order
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
	if !r.Sequential { // where everything waits for everything
		r.outcome.report.Critical = r.critical(order)
	}
	if stopped.Load() {
		failures = append(failures, fmt.Errorf("stopped before everything was done: %w", stopCause(ctx)))
	}
	return errors.Join(failures...)
}

// needs reports what a resource needs, or nothing.
func (r *run) needs(ctx context.Context, n *node) (Action, error) {
	kind := liveKinds[n.Spec.Kind()]
	if n.stale {
		return kind.undo(r, ctx, n)
	}
	return kind.compare(r, ctx, n)
}

// perform makes one resource so.
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

// mayStart reports whether a node can be what starts a unit: the unit itself, or a command of the author's in its place.
func (n *node) mayStart() bool {
	switch n.Spec.(type) {
	case *resource.Unit, *resource.Command:
		return true
	}
	return false
}

// finishOthers does what is left of the nodes that a start comes after. Whoever starts the kubelet does so here: a unit, or a command.
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

// writeLate writes the files that are decided late, if a node is the start of the unit that reads them.
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

// does times an action that takes a while, and notes it as a change.
func (r *run) does(n *node, action Action, do func() error) error {
	return r.step(string(n.ID()), func() error {
		err := do()
		if err == nil {
			r.changed(n.ID(), action)
		}
		return err
	})
}

// stopCause is why a context is done: that its time is over, or who asked for the end.
func stopCause(ctx context.Context) error {
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		return err
	}
	return context.Cause(ctx)
}
