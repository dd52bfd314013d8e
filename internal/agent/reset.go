package agent

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
)

// Reset removes what the generations created on the machine, stops their units, and restores the earlier files. Kernel
// settings and the records of the generations stay: the settings until the next boot.
func (a *Agent) Reset(ctx context.Context) (changes []apply.Change, err error) {
	r := begin(a, "", false)
	err = exclusively(ctx, r, func(store *generation.Store) (err error) {
		current, found := store.Current()
		if !found {
			return outcome.Refused("Slipway has made nothing on this machine; there is nothing to reset")
		}
		if _, err := store.Plan(current.Number); err != nil {
			return outcome.Refused("%s: this file says what Slipway has made, so nothing is reset without it: restore the file, or make the machine again from its image", err)
		}
		if changes, err = reset(ctx, r, store); err != nil {
			return fmt.Errorf("%w; run the same command again", err)
		}
		return nil
	})
	return changes, err
}

// reset turns a node back into the machine that it was made of.
func reset(ctx context.Context, r *run, store *generation.Store) ([]apply.Change, error) {
	if err := r.node().EndTrial(ctx, store); err != nil {
		return nil, err
	}
	if err := r.publisher().RemoveResults(); err != nil {
		return nil, err
	}
	return r.node().RemoveAll(ctx, store)
}

// exclusively calls f with the generations and the lock held. It waits for the lock no longer than another run may
// take.
func exclusively(ctx context.Context, r *run, f func(store *generation.Store) error) error {
	lock := newLock(r)
	return r.guarded(func() error {
		defer lock.giveBack()
		store, err := openExclusively(ctx, r, lock, terms{})
		if err != nil {
			return err
		}
		return f(store)
	})
}
