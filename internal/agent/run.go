package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/transition"
)

// run is one run of the agent: what it works with, and what it has to say of itself. What it finds out and decides are
// values that one stage hands to the next.
type run struct {
	agent *Agent
	// host is the machine, with a reserve of room on its disk.
	host *room
	log  *slog.Logger
	now  func() time.Time
	// account is what the run has done so far, target where it is published.
	account *outcome.Account
	target  publish.Target
	// given are facts that are used instead of gathering them; nil for none.
	given *facts.Facts
	// dryRun changes nothing, and publishes nothing.
	dryRun bool
	// allowed are settings that may be left unapplied although somebody needs them.
	allowed []string
	// reading is what is said beside the contract of how it is read.
	reading compile.Reading
	// mode is who is asked to make the node.
	mode Mode
	// gate holds back the kubelet that systemd starts; nil before it is known whose disk this is.
	gate *gate
	// owed is what the last transition has left because nothing waits for it.
	owed []resource.Resource
	// question is what the cluster is asked; nil for nothing.
	question *question
}

// begin begins a run about the contract at a path. One that goes forward does not use the reserve of room.
func begin(a *Agent, path string, forward bool) *run {
	r := &run{
		agent: a, host: &room{Host: a.Host, warn: a.Log.Warn, held: forward}, log: a.Log, now: a.Now,
		account: outcome.Begin(a.Version, a.Now()), target: publish.Target{Called: a.Called, Contract: path},
	}
	r.account.Status.Config.Path = path
	return r
}

// guarded calls f, and turns a panic into an error: whoever waits for the result must get one.
func (r *run) guarded(f func() error) error { return apply.Guard(r.log, "agent", f) }

// step adds a step of the agent's own to the timeline.
func (r *run) step(name string, begin time.Time) { r.account.Step(name, begin, r.now()) }

// conclude says what came of the run, from the error that it ended with. It does not go forward any more.
func (r *run) conclude(err error) outcome.Result {
	result := r.account.Conclude(err, r.now(), r.target.Code)
	result.Log(r.log)
	r.host.hold(false)
	return result
}

func (r *run) publisher() *publish.Publisher {
	return &publish.Publisher{Host: r.host, Log: r.log, Now: r.now}
}

func (r *run) node() *transition.Node {
	return &transition.Node{
		Host: r.host, Hold: r.host.hold, Log: r.log, Now: r.now, Program: r.agent.Program, Sequential: r.agent.Sequential,
	}
}

// currentPlan is the plan of the current generation, an empty one if the machine has no generation.
func (r *run) currentPlan() (resource.Plan, error) {
	store, err := generation.Open(r.host, r.log)
	if err != nil {
		return resource.Plan{}, err
	}
	current, found := store.Current()
	if !found {
		return resource.Plan{}, nil
	}
	return store.Plan(current.Number)
}

// record takes over what has come of a transition.
func (r *run) record(made transition.Made) {
	for _, report := range made.Reports {
		r.account.Applied(report)
		r.owed = report.Owed
	}
	s := &r.account.Status
	if made.Generation != 0 {
		s.Generation = made.Generation
	}
	s.Restored = made.Restored
}

// afterwards does what nothing waits for, not even who wants the result. Where something goes wrong, it adds that to the published
// status.
func (r *run) afterwards(ctx context.Context, lock *lock, result outcome.Result) outcome.Result {
	if len(r.owed) == 0 {
		return result
	}
	err := lock.during(ctx, func() error {
		report, err := r.node().Afterwards(ctx, r.owed)
		if len(report.Advice) > 0 {
			result.Applied(report)
			r.publisher().WriteStatus(result, r.target)
		}
		return err
	})
	if err != nil {
		r.log.Warn("something that nothing waits for is not done; the next run does it", "error", err)
	}
	return result
}

// publishResult publishes a result, unless it is another run's that is published. It returns what is.
func publishResult(ctx context.Context, r *run, lock *lock, result outcome.Result) outcome.Result {
	if !lock.mayPublish(ctx) {
		r.log.Error("another provisioning is running; its result is published, not this one's")
		return result
	}
	return r.publisher().WriteResult(ctx, result, r.target)
}

// addressTries is how often a node is planned again whose address was gone before it was provisioned.
const addressTries = 3

// settle makes the machine be as planned, within a time, and plans it again as long as an address that it was planned with
// is gone once that is applied, and if the cluster has answered meanwhile.
func settle(ctx context.Context, r *run, timeout time.Duration, machine *identity.Machine, apply, plan func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, outcome.ErrTimeout)
	defer cancel()
	defer func() { r.question.hurry() }() // a plan that is made again may ask
	err := apply(ctx)
	for tries := 0; err == nil && (strayed(r, machine) || r.question.unused(r, machine)); tries++ {
		if tries == addressTries {
			err = fmt.Errorf("the machine's address changes again and again, last to %s: the node was planned with one that is gone", strings.Join(machine.Facts.NodeIPs, ", "))
		} else if err = plan(ctx); err == nil {
			err = apply(ctx)
		}
	}
	return outcome.CutOff(ctx, timeout, err)
}
