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

// run is one run of the agent: its inputs, and the account of its work. What it finds out and decides are values that
// one stage passes to the next.
type run struct {
	agent *Agent
	// host is the machine, with a reserve of room on its disk.
	host *room
	log  *slog.Logger
	now  func() time.Time
	// account is what the run has done so far; target is where it is published.
	account *outcome.Account
	target  publish.Target
	// given are facts to use instead of gathering them. If nil, the run gathers them.
	given *facts.Facts
	// dryRun neither changes nor publishes anything.
	dryRun bool
	// allowed are settings that may be left out although the node needs them.
	allowed []string
	// reading is how to read the contract, set by flags.
	reading compile.Reading
	// mode is the requested program that makes the node.
	mode Mode
	// gate holds back the kubelet that systemd starts. It is nil before the run knows which machine's disk this is.
	gate *gate
	// owed is what the last transition left for later because nothing waits for it.
	owed []resource.Resource
	// question is the request to the cluster, or nil.
	question *question
}

// begin begins a run about the contract at a path. A run that goes forward does not use the disk reserve.
func begin(a *Agent, path string, forward bool) *run {
	r := &run{
		agent: a, host: &room{Host: a.Host, warn: a.Log.Warn, held: forward}, log: a.Log, now: a.Now,
		account: outcome.Begin(a.Version, a.Now()), target: publish.Target{Called: a.Called, Contract: path},
	}
	r.account.Status.Config.Path = path
	return r
}

// guarded calls f and turns a panic into an error: a program that waits for the result must get one.
func (r *run) guarded(f func() error) error { return apply.Guard(r.log, "agent", f) }

// step adds one of the agent's steps to the timeline.
func (r *run) step(name string, begin time.Time) { r.account.Step(name, begin, r.now()) }

// conclude returns the run's result, from the error that it ended with. From then on the run does not go forward.
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

// currentPlan returns the plan of the current generation. It is empty if the machine has no generation.
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

// record records a transition's outcome.
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

// afterwards does the work that nothing waits for, not even a reader of the result. It adds errors to the published
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

// publishResult publishes a result, unless another run's result is published. It returns the published one.
func publishResult(ctx context.Context, r *run, lock *lock, result outcome.Result) outcome.Result {
	if !lock.mayPublish(ctx) {
		r.log.Error("another provisioning is running; its result is published, not this one's")
		return result
	}
	return r.publisher().WriteResult(ctx, result, r.target)
}

// addressTries is how often a node is planned again whose address was gone before it was provisioned.
const addressTries = 3

// settle applies the plan within a timeout. It plans again if an address of the plan is gone after the apply, and if
// the cluster has answered meanwhile.
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
