package watch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Rejection is why a config is not tried again.
type Rejection string

// The rejections.
const (
	// Invalid says that no node can be made from it.
	Invalid Rejection = "invalid"
	// Older says that the node has a config with a higher generation number.
	Older Rejection = "older"
	// Class says that it takes more than is allowed.
	Class Rejection = "class"
	// Failed says that it was tried, and the node was not well with it.
	Failed Rejection = "failed"
)

// rejections are all of them, in the order in which they are shown.
var rejections = []Rejection{Class, Failed, Invalid, Older}

// followed is a source, and what is known of it.
type followed struct {
	Source
	// due is when it is read next.
	due time.Time
	// quietBy is when it is read even if it keeps changing.
	quietBy time.Time
	// noted is what was decided about the bytes that it had.
	noted note
	// unknown says that nothing was ever decided about it.
	unknown bool
	// failures is how often in a row it could not be read, or its config not be tried.
	failures int
	// pending are bytes whose config could not be tried, and notBefore when it is tried again.
	pending   string
	notBefore time.Time
}

// touched notes that a source may have changed.
func (s *followed) touched(now time.Time) {
	if s.quietBy.Before(now) {
		s.quietBy = now.Add(patience)
	}
	s.due = now.Add(debounce)
	if s.due.After(s.quietBy) {
		s.due = s.quietBy
	}
}

// checkSources checks the sources that are due.
func (r *run) checkSources(ctx context.Context) error {
	for _, s := range r.sources {
		if ctx.Err() == nil && !time.Now().Before(s.due) {
			if err := r.check(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// check reads a source, and applies what it says if it says something new.
func (r *run) check(ctx context.Context, s *followed) error {
	var contract source.Contract
	err := r.during(ctx, "reading "+s.Name, false, func(ctx context.Context) (err error) {
		contract, err = s.Fetch(ctx)
		return err
	})
	now := time.Now()
	s.quietBy = time.Time{}
	s.due = now.Add(spread(s.Interval, r.Seed, s.Name, now))
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, source.ErrNotFound):
		s.failures = 0
		return nil
	case err != nil:
		r.failed = true
		r.Metrics.sourceFailed(s.Name)
		r.Log.Warn("a source cannot be read", "source", s.Name, "error", err, "retryIn", r.later(s))
		return nil
	}
	sum := contract.Sum()
	if sum == s.noted.Sum {
		s.failures = 0
		r.failed = r.failed || s.noted.Rejected != ""
		return nil
	}
	if sum == s.pending && now.Before(s.notBefore) {
		s.due = s.notBefore
		return nil
	}
	entries, err := r.Node.Generations()
	if err != nil {
		r.Log.Warn("the generations cannot be read", "error", err, "retryIn", r.later(s))
		return nil
	}
	if len(entries) == 0 {
		// A first provisioning publishes a result that somebody waits for, which a change does not.
		r.Log.Debug("the machine is not provisioned yet", "source", s.Name)
		return nil
	}
	log := r.Log.With("source", s.Name, "path", contract.Path)
	if s.unknown {
		if known, ok := decided(contract, entries); ok {
			log.Info("this config was applied before", "verdict", known.verdict())
			r.note(s, sum, known)
			return nil
		}
	}
	return r.try(ctx, s, contract, sum, log)
}

// decided reports what became of a config that the watcher sees for the first time, on a node that may have
// had it: the current one stays, one that has failed is not tried again, and one that "apply" or
// "rollback" has taken the place of does not come back by itself.
func decided(contract source.Contract, entries []generation.Entry) (note, bool) {
	read := compile.ReadOne(contract.Path, contract.Data)
	if len(read.Fatal()) > 0 {
		return note{}, false
	}
	e, found := newestOf(entries, nodeconfig.Digest(read.Config))
	switch {
	case !found:
		return note{}, false
	case e.Outcome == generation.Failed:
		return note{Rejected: Failed}, true
	case e.Outcome == generation.Good:
		return note{}, true
	}
	// Nobody knows whether it was applied to its end: the last one is finished, others are gone.
	return note{}, e.Number != entries[len(entries)-1].Number
}

// newestOf is the newest generation of a config.
func newestOf(entries []generation.Entry, config string) (generation.Entry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Config == config {
			return e, true
		}
	}
	return generation.Entry{}, false
}

// try applies a config.
func (r *run) try(ctx context.Context, s *followed, contract source.Contract, sum string, log *slog.Logger) error {
	log.Info("new config: applying it")
	begin := time.Now()
	changed, err := r.change(ctx, "applying the config of "+s.Name, func(ctx context.Context) agent.Changed {
		return r.Node.Change(ctx, agent.ChangeOptions{
			Config: contract.Path, Contract: &contract, Allow: r.Allow, Force: r.Force, Origin: generation.Watch,
			Show: func(d *difference.Difference) {
				log.Info("the node changes", "class", d.Class.String())
			},
		})
	})
	if err != nil {
		return err
	}
	known, final := r.verdict(changed, begin)
	if known.Rejected == "" || known.Rejected == Failed {
		r.Metrics.applied(changed.Status)
	} else {
		r.Metrics.refused() // nothing was tried, and what the last apply did still stands
	}
	if !final {
		r.failed = true
		delay := r.later(s)
		s.pending, s.notBefore = sum, s.due
		log.Warn("cannot apply the config now", "reason", why(changed), "retryIn", delay)
		return nil
	}
	if known.Rejected == "" {
		log.Info("applied the config", "generation", changed.Status.Generation, "changes", len(changed.Status.Changes))
	} else {
		r.failed = true
		log.Error("rejected the config; it is not tried again until it changes", "verdict", known.verdict(),
			"reason", why(changed), "restored", changed.Status.Restored)
	}
	r.note(s, sum, known)
	return nil
}

// verdict is what is remembered about a config, unless what was in its way is no fault of its own.
func (r *run) verdict(changed agent.Changed, begin time.Time) (known note, final bool) {
	st := changed.Status
	switch {
	case changed.Refused != "" && changed.Difference != nil:
		return note{Rejected: Class, Allowed: r.Allow}, true
	case st.ExitCode == exitcode.ContractOlder:
		return note{Rejected: Older}, true
	case st.ExitCode == 0:
		return note{}, true
	case len(nodeconfig.Fatal(st.Problems)) > 0:
		return note{Rejected: Invalid}, true
	}
	entries, err := r.Node.Generations()
	if err != nil {
		return note{}, false
	}
	// One that has failed before is no sign: this time it may not have come to it.
	e, found := newestOf(entries, st.Config.Digest)
	if !found || e.Outcome != generation.Failed || e.FinishedAt.Before(begin) {
		return note{}, false
	}
	return note{Rejected: Failed}, true
}

// why is what went wrong, on one line.
func why(changed agent.Changed) string {
	switch {
	case changed.Refused != "":
		return changed.Refused
	case changed.Status.Error != nil:
		return changed.Status.Error.String()
	}
	return ""
}

// note remembers what was decided about the bytes that a source has.
func (r *run) note(s *followed, sum string, n note) {
	n.Sum = sum
	s.noted, s.unknown, s.failures, s.pending = n, false, 0, ""
	r.Metrics.rejected(r.rejectedBy())
	if err := r.memory.keep(s.Name, n); err != nil {
		r.Log.Warn("cannot record the decision; it is made again after a restart", "error", err)
	}
}

// rejectedBy counts the sources whose configs are rejected, by reason.
func (r *run) rejectedBy() map[Rejection]int {
	counts := make(map[Rejection]int)
	for _, s := range r.sources {
		if s.noted.Rejected != "" {
			counts[s.noted.Rejected]++
		}
	}
	return counts
}

// later puts a source off, for longer each time, and returns for how long.
func (r *run) later(s *followed) time.Duration {
	s.failures++
	delay := spread(backoff(s.failures), r.Seed, s.Name, time.Now())
	s.due = time.Now().Add(delay)
	return delay
}
