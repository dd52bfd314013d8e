package apply

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// compareCommand decides whether a command runs. A command that runs once does not run again, and one that is seen to
// be done does not run. Another one without inputs always runs; one with inputs runs if an input has changed.
func compareCommand(r *run, ctx context.Context, n *node) (Action, error) {
	c := n.Spec.(*resource.Command)
	if c.Once != "" {
		names, err := r.ranOnce()
		if err != nil || slices.Contains(names, c.Once) {
			return "", err
		}
	}
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
	return "", nil // the unit's start reads the present input
}

func bringCommand(r *run, ctx context.Context, n *node, _ Action) error {
	c := n.Spec.(*resource.Command)
	return r.does(n, Ran, func() error {
		if c.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.Timeout.Std())
			defer cancel()
		}
		before, err := r.confirmed(c)
		if err != nil {
			return err
		}
		output, err := r.Host.Run(ctx, c)
		r.printed(output)
		if err == nil {
			err = r.unconfirmed(c, before)
		}
		switch {
		case err != nil && c.Advisory && ctx.Err() != context.Canceled:
			r.advised(failed(n.Resource, err))
		case err != nil && c.Optional:
			r.Log.Debug("a command has failed that may fail", "command", c.Label, "error", err)
		case err != nil:
			return err
		}
		// Its output is made durable before the record is removed that makes it run again: programs seldom sync.
		for _, input := range c.Inputs {
			if err := r.Host.SyncFileSystem(input); err != nil {
				return err
			}
		}
		if c.Once != "" {
			return r.noteOnce(c.Once)
		}
		return nil
	})
}

// confirmed returns the content of the paths that a command must not change, by path.
func (r *run) confirmed(c *resource.Command) (map[string]string, error) {
	have, files := make(map[string]string), &storeFiles{run: r, most: maxBundle}
	for _, path := range c.Confirms {
		if content := files.Content(path); content != nil {
			sum := sha256.Sum256(content)
			have[path] = string(sum[:])
		}
		for _, name := range files.Names(path) {
			if target := files.Target(path + "/" + name); target != "" {
				have[path+"/"+name] = target
			}
		}
	}
	return have, files.err
}

// unconfirmed returns an error if the command has changed something that it was to confirm.
func (r *run) unconfirmed(c *resource.Command, before map[string]string) error {
	after, err := r.confirmed(c)
	if err != nil {
		return err
	}
	changed := slices.DeleteFunc(slices.Sorted(maps.Keys(after)), func(path string) bool { return before[path] == after[path] })
	for path := range before {
		if _, there := after[path]; !there {
			changed = append(changed, path)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return fmt.Errorf("%s makes %d files or links that differ from those Slipway made, among them %s; the ones of the program stay", c.Argv[0], len(changed), slices.Min(changed))
}

// mostOnce is how many names of commands that run once are kept: the newest.
const mostOnce = 512

// ranOnce are the names of the run-once commands that have run, oldest first.
func (r *run) ranOnce() ([]string, error) {
	entry, err := r.Host.Stat(state.Commands.Path)
	if err != nil || entry.Kind == Absent {
		return nil, err
	}
	data, err := state.Commands.Read(r.Host)
	return strings.Fields(string(data)), err
}

// noteOnce records that a command has run. If the power fails before that, it runs again.
func (r *run) noteOnce(name string) error {
	r.once.Lock()
	defer r.once.Unlock()
	names, err := r.ranOnce()
	if err != nil {
		return err
	}
	names = append(names, name)
	names = names[max(0, len(names)-mostOnce):]
	file, err := state.Commands.With([]byte(strings.Join(names, "\n") + "\n"))
	if err == nil {
		err = r.Host.Stage(file)
	}
	if err == nil {
		err = r.Host.Commit(file.Path)
	}
	if err == nil {
		err = r.Host.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("record that the command has been run: %w", err), r.Host.Unstage(state.Commands.Path))
	}
	return nil
}

// unasked: a check's result is known only when it runs.
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
		} else if c.Holds != "" {
			err = errors.Join(err, Hold(context.WithoutCancel(ctx), r.Host, c.Holds))
		}
		return err
	})
}
