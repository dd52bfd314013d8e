package watch

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
)

// tagsInterval is how often the machine's tags are asked for, on a node that has the API server's address from one (AKS:
// reconcile-private-hosts.sh). On all others they never are.
const tagsInterval = 15 * time.Second

// serverAddress is what is known of the API server's address.
type serverAddress struct {
	// of is the generation that the next two are of: which address it has, and whether it keeps one at all.
	of   generation.Entry
	have string
	kept bool
	// The tags are asked for when an attempt is due.
	attempts
	// silent says that the last question had no answer.
	silent bool
}

// followAddress asks for the machine's tags when that is due, and has the node planned for another address where they have
// one. The node's address is that of its current generation, whoever has made that: after a way back it is followed again. An
// address that is gone from the tags stays.
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
		return false // who looks for drift reports it
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
		return nil // a generation that is about to be another one is left alone
	}
	if !r.concluded(&a.attempts, changed, tagsInterval, "another run is working; applying the API server's address after it",
		"cannot apply the API server's address", "address", tags.APIServerAddress) {
		return nil
	}
	r.Log.Info("the API server has another address", "before", a.have, "now", tags.APIServerAddress, "generation", changed.Status.Generation)
	return nil
}
