package watch

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
)

// tagsInterval is how often the watcher reads the machine's tags on a node whose API server address comes from a tag
// (AKS: reconcile-private-hosts.sh). On all other nodes it never reads them.
const tagsInterval = 15 * time.Second

// serverAddress is the state of following the API server's address.
type serverAddress struct {
	// of is the generation that the next two are of: which address it has, and whether it keeps one at all.
	of   generation.Entry
	have string
	kept bool
	// attempts holds when the tags are read next.
	attempts
	// silent is true if the last read of the tags failed.
	silent bool
}

// followAddress reads the machine's tags when that is due. If they hold another address, it has the node planned with that one.
// The node's address is the one in its current generation, whichever command made that: the watcher follows it after a rollback,
// too. If the address disappears from the tags, the node keeps the last one.
func (r *run) followAddress(ctx context.Context) error {
	if r.Tags == nil || !r.keepsAddress() || time.Now().Before(r.address.due) {
		return nil
	}
	a := &r.address
	var tags facts.Tags
	err := r.during(ctx, "asking for the machine's tags", false, func(ctx context.Context) (err error) {
		tags, err = r.Tags(ctx)
		return err
	})
	now := time.Now()
	a.due = now.Add(spread(tagsInterval, r.Seed, "tags", now))
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		if !a.silent {
			r.Log.Warn("the machine's tags cannot be read; the API server's address stays until they can", "address", a.have, "error", err)
		}
		a.silent, r.failed = true, true
		return nil
	case a.silent:
		r.Log.Info("the machine's tags can be read again")
		a.silent = false
	}
	if tags.APIServerAddress == "" || tags.APIServerAddress == a.have {
		a.failures = 0
		return nil
	}
	return r.readdress(ctx, tags)
}

// keepsAddress reports whether the current generation has the API server's address from a tag. The generation is read when it
// is another one than before.
func (r *run) keepsAddress() bool {
	entries, err := r.Node.Generations()
	if err != nil || len(entries) == 0 {
		return false // publish reports why
	}
	a, current := &r.address, entries[len(entries)-1]
	if current.Number == a.of.Number && current.Plan == a.of.Plan {
		return a.kept
	}
	have, kept, err := r.Node.ServerAddress()
	if err != nil {
		return false // the search for drift reports it
	}
	if kept && !a.kept {
		a.due = time.Now()
	}
	a.of, a.have, a.kept = current, have, kept
	return kept
}

// readdress has the node planned for the address of its tags.
func (r *run) readdress(ctx context.Context, tags facts.Tags) error {
	a := &r.address
	changed, err := r.change(ctx, "applying the API server's address", func(ctx context.Context) agent.Changed { return r.Node.Retag(ctx, tags) })
	if err != nil {
		return err
	}
	a.of = generation.Entry{} // it may have another one, or have gone back
	if !changed.Busy && changed.Status.ExitCode == 0 && len(changed.Status.Changes) == 0 {
		return nil // the generation is about to change
	}
	if !r.concluded(&a.attempts, changed, tagsInterval, "another run is working; applying the API server's address after it",
		"cannot apply the API server's address", "address", tags.APIServerAddress) {
		return nil
	}
	r.Log.Info("the API server has another address", "before", a.have, "now", tags.APIServerAddress, "generation", changed.Status.Generation)
	return nil
}
