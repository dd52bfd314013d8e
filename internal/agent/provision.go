package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/status"
)

// ProvisionOptions say what to provision from.
type ProvisionOptions struct {
	// Config is the path of the contract; empty for the known places.
	Config string
	// Script is the path of a script to run instead of a plan, where there is no Config.
	Script string
	// Facts are used instead of gathering them, where not nil.
	Facts *facts.Facts
	// Source is the one place to look for the contract where no Config is given, by its name in
	// package source; empty for all that the machine has.
	Source string
	// Wait is how long a contract that is not there yet is looked for; 0 looks once.
	Wait time.Duration
	// Force applies a contract whose author gave it a lower revision than the node's, too.
	Force bool
	// DryRun compares and changes nothing, nor publishes anything.
	DryRun bool
	// Identified is called when it is known which machine this is, and nothing of another is left: from then
	// on a kubelet may be started. It may be nil.
	Identified func()
}

// Provision makes the machine a node and publishes the result. It never fails without publishing, but
// where another provisioning is at work, which publishes its own: the returned status is what was
// published, and holds the exit code.
func (a *Agent) Provision(ctx context.Context, opts ProvisionOptions) *status.Status {
	p := &provision{Agent: a.withRoom(true), opts: opts}
	p.account = outcome.Begin(a.Version, a.Now())
	p.account.Status.Config.Path = opts.Config
	err := p.guarded(func() error { return p.run(ctx) })
	p.conclude(err)
	p.room.hold(false)
	if !opts.DryRun {
		p.publish(ctx)
		if p.release != nil && p.result.Succeeded() && !p.isScript() {
			_ = p.guarded(func() error { p.machine.Remember(p.Host, p.Log, p.found, p.dialect); return nil })
			_ = p.guarded(func() error { p.room.refill(); return nil })
		}
		p.unlock()
		p.complete(ctx)
		p.report(ctx)
	}
	return &p.result.Status
}

// provision is one run of Provision.
type provision struct {
	*Agent
	opts ProvisionOptions
	// given is the contract, where it has been read already.
	given *source.Contract
	// account is what was done so far, result what came of it in the end.
	account *outcome.Account
	result  outcome.Result
	// dialect is empty until the contract is read.
	dialect string
	// machine is which one this is, with the facts that the plan is made from.
	machine identity.Machine
	// found is the contract.
	found source.Contract
	// preparing ends when what needs no contract is done; nil where none was waited for.
	preparing <-chan prepared
	// baseProblems are the warnings of the image's own contract, where that was applied first.
	baseProblems []nodeconfig.Problem
	// baseOnly says that the node does not join.
	baseOnly bool
	// config is what the contract says, once it is read.
	config *nodeconfig.NodeConfig
	// unchanged says that the last result is still true, where nothing failed after that.
	unchanged bool
	// release gives the lock back, where it is held.
	release func() error
	// yielded says that the lock was not to be had in time.
	yielded bool
}

// guarded calls f, and turns a panic into an error: whoever waits for the result must get one.
func (a *Agent) guarded(f func() error) error { return apply.Guard(a.Log, "agent", f) }

func (p *provision) run(ctx context.Context) error {
	if err := p.identify(ctx); err != nil {
		return err
	}
	if p.opts.Identified != nil {
		p.opts.Identified()
	}
	if p.opts.Wait > 0 {
		if err := p.retractFailure(ctx); err != nil {
			return err
		}
	}
	desired, timeout, err := p.desired(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, outcome.ErrTimeout)
	defer cancel()
	if p.opts.DryRun {
		return p.preview(ctx, desired)
	}
	err = p.settle(p.apply(ctx, desired), func() error {
		desired, _, err := p.desired(ctx)
		if err != nil {
			return err
		}
		return p.apply(ctx, desired)
	})
	return outcome.CutOff(ctx, timeout, err)
}

// apply makes the machine be as desired. It holds the lock from before the marker of an earlier run is
// removed until its own is published: of two runs at once, one sees nothing of the other.
func (p *provision) apply(ctx context.Context, desired resource.Plan) error {
	begin := p.Now()
	err := p.lock(ctx)
	p.step(outcome.StepLock, begin)
	if err != nil {
		return err
	}
	p.recordFacts()
	store, err := generation.Open(p.Host, p.Log)
	if err != nil {
		return err
	}
	next, refusal, err := p.next(store, desired)
	if err != nil {
		return errors.Join(refusal, err)
	}
	p.account.Status.Config.Digest = next.plan.Config
	if err := p.unmasked(store, &next); err != nil {
		return errors.Join(p.retract(), err)
	}
	last := publish.SuccessStands(p.Host, next.plan.Config, p.target())
	if !last || refusal != nil {
		if err := p.retract(); err != nil {
			return err
		}
	}
	settled, err := p.settled(store, &next)
	if err != nil {
		return err
	}
	// The kubelet of a node that was good may take longer to be seen again after a reboot than these checks wait.
	if !settled {
		next.verify = func(health []resource.Resource) error {
			_, err := p.healthyAgain(ctx, health)
			return err
		}
	}
	report, err := p.advance(ctx, store, next)
	p.account.Applied(report)
	if current, found := store.Current(); found && !p.isScript() {
		p.account.Status.Generation = current.Number
	}
	p.unchanged = err == nil && refusal == nil && last && len(p.account.Status.Changes) == 0
	return errors.Join(err, refusal)
}

// next is what must be applied: what the contract says, unless that is not the newest word. Where the contract is
// refused as well, because it is older than the node's, it is what the node has, and the refusal.
func (p *provision) next(store *generation.Store, desired resource.Plan) (next advance, refusal, err error) {
	next = advance{plan: desired, entry: generation.Entry{Origin: generation.Provision}}
	if p.isScript() {
		return next, nil, nil
	}
	next.entry = p.entry(generation.Provision)
	same := p.machine.Foreign == nil
	if same {
		if moved, err := p.moved(store); err != nil {
			return next, nil, err
		} else if moved {
			p.machine.Foreign = p.machine.Last // what was applied since its contract was for the other address
		}
	}
	if p.machine.Foreign == nil { // what was applied since was for another machine, or another address
		next = p.supersede(store, next)
	}
	if !same || p.opts.Force || next.entry.Origin != generation.Provision {
		return next, nil, nil
	}
	if refusal = p.outdated(store, desired); refusal == nil {
		return next, nil, nil
	}
	p.Log.Warn("the contract is older than the node's; the node stays as it is", "error", refusal)
	next, err = stay(store)
	return next, refusal, err
}

// entry is what a generation of the contract is to say of itself.
func (p *provision) entry(origin generation.Origin) generation.Entry {
	e := generation.Entry{Origin: origin, Revision: p.config.Metadata.Revision}
	if !p.baseOnly { // a node that does not join has told nobody its address
		e.Addresses = strings.Join(p.machine.Facts.NodeIPs, " ")
	}
	return e
}

// preview reports what would be done.
func (p *provision) preview(ctx context.Context, desired resource.Plan) error {
	next := advance{plan: desired, entry: generation.Entry{Origin: generation.Provision}}
	if !p.isScript() && p.machine.Foreign == nil {
		store, err := generation.Open(p.Host, p.Log)
		if err != nil {
			return err
		}
		next = p.supersede(store, next)
		if next.entry.Origin == generation.Provision && !p.opts.Force {
			if err := p.outdated(store, desired); err != nil {
				return err
			}
		}
	}
	engine := p.engine()
	report, err := engine.Preview(ctx, next.plan)
	p.account.Applied(report)
	return err
}

// lock waits until no other run is at work.
func (p *provision) lock(ctx context.Context) error {
	if p.release != nil {
		return nil
	}
	release, err := p.locked(ctx)
	if err != nil {
		p.yielded = ctx.Err() != nil
		return err
	}
	p.release = release
	return nil
}

// lockQuiet is how long a run waits for another one before it says so.
const lockQuiet = time.Second

// locked takes the lock, and says so where another run has to be waited for.
func (a *Agent) locked(ctx context.Context) (unlock func() error, err error) {
	quiet, cancel := context.WithTimeout(ctx, lockQuiet)
	defer cancel()
	if unlock, err = apply.Lock(quiet, a.Host); err == nil || quiet.Err() == nil || ctx.Err() != nil {
		return unlock, err
	}
	a.Log.Warn("another run is working; waiting for its end", "lock", apply.LockPath)
	return apply.Lock(ctx, a.Host)
}

// exclusive takes the lock, for no longer than another run may take.
func (a *Agent) exclusive(ctx context.Context, upTo time.Duration) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, upTo)
	defer cancel()
	return a.locked(ctx)
}

func (p *provision) unlock() {
	if p.release == nil {
		return
	}
	if err := p.guarded(p.release); err != nil {
		p.Log.Warn("the lock cannot be given back before the agent ends", "path", apply.LockPath, "error", err)
	}
	p.release = nil
}

// desired returns what the machine should be like, and how long that may take.
func (p *provision) desired(ctx context.Context) (resource.Plan, time.Duration, error) {
	if p.isScript() {
		return p.script()
	}
	if p.opts.Script != "" {
		p.Log.Warn("there is a script and a contract: applying the contract, not running the script", "script", p.opts.Script)
	}
	contract, err := p.awaited(ctx)
	p.account.Status.Config.Path = contract.Path
	if err != nil {
		return resource.Plan{}, 0, outcome.NotFoundError{Cause: err}
	}
	begin := p.Now()
	read := compile.ReadOne(contract.Path, contract.Data)
	p.dialect = read.Dialect
	if p.dialect != "" && contract.Source == source.FileSource && p.Named == nil {
		p.restrict(contract.Path) // not before it is known for a contract: the path may be a mistake
	}
	p.account.Status.Config.Dialect = read.Dialect
	p.account.Status.Config.KubernetesVersion = kubernetesVersion(read)
	if len(read.Fatal()) > 0 {
		_, problems := read.Plan(p.machine.Facts)
		return resource.Plan{}, 0, p.refused(contract.Path, read, problems)
	}
	p.config = read.Config
	p.baseOnly = read.Config.Join.Method == nodeconfig.JoinNone
	p.step(outcome.StepDecode, begin)
	if p.opts.Facts == nil {
		p.machine = p.machine.Described(p.found.Instance)
	}
	p.address(ctx)
	begin = p.Now()
	desired, problems := read.Plan(p.machine.Facts)
	p.account.Status.Config.Digest = desired.Config
	p.step(outcome.StepPlan, begin)
	if err := p.refused(contract.Path, read, problems); err != nil {
		return resource.Plan{}, 0, err
	}
	for i, problem := range p.account.Status.Problems {
		if i == status.MaxProblems {
			p.Log.Warn("contract", "more", len(p.account.Status.Problems)-i)
			break
		}
		p.Log.Warn("contract", "path", problem.Where(), "reason", problem.Reason)
	}
	return desired, read.Config.Checks.Timeout.Std(), nil
}

// refused takes over what is wrong with a contract, and returns an error where no node can be made of it.
func (p *provision) refused(path string, read *compile.Contract, problems []nodeconfig.Problem) error {
	p.account.Status.Problems = slices.Concat(problems, p.baseProblems)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		return &outcome.UnusableError{Path: path, Fatal: fatal, ExitCode: read.ExitCode(problems)}
	}
	return nil
}

// awaited is the contract. What needs none is done meanwhile, where it is not there yet.
func (p *provision) awaited(ctx context.Context) (source.Contract, error) {
	begin := p.Now()
	if p.given == nil && !p.opts.DryRun {
		p.prefetch(ctx, p.machine.Facts)
	}
	found, err := p.contract(ctx)
	p.step(outcome.StepFind, begin)
	if p.preparing != nil {
		begin = p.Now()
		p.collect(p.preparing)
		p.step(outcome.StepBase, begin)
	}
	p.found = found
	p.restrict(source.Paths...)
	return found, err
}

// named are the files that a given path is of.
func (a *Agent) named() Named {
	if a.Named != nil {
		return a.Named
	}
	return a.Host
}

// step adds a step of the agent's own to the timeline.
func (p *provision) step(name string, begin time.Time) { p.account.Step(name, begin, p.Now()) }

// script plans the one command of a contract that is a script. Its result is published by the
// script itself, as AKS's scripts do; the agent's is published where it was not.
func (p *provision) script() (resource.Plan, time.Duration, error) {
	p.dialect = dialect.AKS
	p.account.Status.Config = status.Config{Path: p.opts.Script, Dialect: "script"}
	entry, err := p.named().Stat(p.opts.Script)
	if err != nil {
		return resource.Plan{}, 0, err
	}
	if entry.Kind != apply.RegularFile {
		return resource.Plan{}, 0, outcome.NotFoundError{Cause: fmt.Errorf("script %s is not a regular file: deliver one there", p.opts.Script)}
	}
	timeout := nodeconfig.DefaultTimeout
	return plan.UserCommand(p.opts.Script, timeout), timeout.Std(), nil
}

// recordFacts records the facts, unless they were given.
func (p *provision) recordFacts() {
	if p.opts.Facts != nil || p.isScript() {
		return
	}
	if err := identity.WriteFacts(p.Host, p.machine.Facts); err != nil {
		p.Log.Warn("cannot record the facts", "path", FactsPath, "error", err)
	}
}

// kubernetesVersion is the version that a contract asks for, if it is one.
func kubernetesVersion(read *compile.Contract) string {
	at := read.Origin(plan.VersionPath)
	if slices.ContainsFunc(read.Problems, func(p nodeconfig.Problem) bool { return p.Path == at || p.Path == plan.VersionPath }) {
		return ""
	}
	return read.Config.Cluster.KubernetesVersion
}

// conclude says what came of the run, from the error that it ended with.
func (p *provision) conclude(err error) {
	p.result = p.account.Conclude(err, p.Now(), p.target().Code)
	p.result.Log(p.Log)
}
