package apply

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareCommand: one that shows that it is done is not run; one without inputs is always run otherwise, and one that has any
// when something has changed there.
func compareCommand(r *run, ctx context.Context, n *node) (Action, error) {
	c := n.Spec.(*resource.Command)
	switch {
	case c.Done != nil && r.Host.IsDone(ctx, c):
		return "", nil
	case len(c.Inputs) == 0:
		return Ran, nil
	case !has(r.intent.Commands, c.Label):
		return "", nil
	case c.While == "":
		return Ran, nil
	}
	switch state, err := r.Host.UnitState(ctx, c.While); {
	case err != nil:
		return "", err
	case state.active():
		return Ran, nil
	}
	return "", nil // who starts it reads what is there
}

func bringCommand(r *run, ctx context.Context, n *node, _ Action) error {
	c := n.Spec.(*resource.Command)
	return r.does(n, Ran, func() error {
		if c.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.Timeout.Std())
			defer cancel()
		}
		output, err := r.Host.Run(ctx, c)
		r.printed(output)
		switch {
		case err != nil && c.Optional:
			r.Log.Debug("a command has failed that may fail", "command", c.Label, "error", err)
		case err != nil:
			return err
		}
		// What it wrote is durable before the record is removed that has it run again; programs seldom sync.
		for _, input := range c.Inputs {
			if err := r.Host.SyncFileSystem(input); err != nil {
				return err
			}
		}
		return nil
	})
}

// unasked: what a check comes to is known when it is performed.
func unasked(*run, context.Context, *node) (Action, error) { return asking, nil }

func bringCheck(r *run, ctx context.Context, n *node, _ Action) error {
	c := n.Spec.(*resource.Check)
	if c.Unless != "" {
		if there, err := r.written(c.Unless); there || err != nil {
			r.skipped(n.ID())
			return err
		}
	}
	return r.step(string(n.ID()), func() error {
		ctx, cancel := context.WithTimeout(ctx, c.Deadline())
		defer cancel()
		err := r.Host.Probe(ctx, c)
		if errors.Is(err, ErrNotProbed) {
			r.skipped(n.ID())
			return nil
		}
		if err != nil && c.Advisory && ctx.Err() != context.Canceled {
			r.advised(failed(n.Resource, err))
			return nil
		}
		if err == nil {
			r.unchanged()
		}
		return err
	})
}
