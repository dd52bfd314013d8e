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
	// Invalid means that the config is not valid.
	Invalid Rejection = "invalid"
	// Older means that the node has a config with a higher generation number.
	Older Rejection = "older"
	// Class means that the config needs a class of change that is not allowed.
	Class Rejection = "class"
	// Failed means that the config was applied and the node's health checks failed.
	Failed Rejection = "failed"
)

// rejections are all of them, in the order in which they are shown.
var rejections = []Rejection{Class, Failed, Invalid, Older}

// followed is a source with the state of following it.
type followed struct {
	Source
	// due is when it is read next.
	due time.Time
	// quietBy is when it is read even if it keeps changing.
	quietBy time.Time
	// noted is what was decided about the bytes that it had.
	noted note
	// unknown is true until the watcher decides about the source for the first time.
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

// check reads a source, and applies its config if that is new.
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
		// A first provisioning publishes a result that the platform waits for. A change does not publish one.
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

// decided reports the outcome of a config that the watcher sees for the first time, on a node that may have applied it before. The
// current config stays, a failed one is not tried again, and a config that "apply" or "rollback" has replaced does not return by
// itself.
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
	// It is not known whether the apply of this generation was complete. If it is the newest one, the agent finishes it; an older one is over.
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

// verdict returns the note to store about a config. final is false if the obstacle was not the config's fault.
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
	// An earlier failure of the same config is no evidence: this attempt may have stopped before it applied anything.
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
