package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// contract is one that was found and read.
type contract struct {
	*compile.Contract
	found located
}

// read reads the contract that was found, and refuses one that no node can be made of.
func read(r *run, found located, known facts.Facts) (contract, error) {
	begin := r.now()
	c := contract{compile.Read([]compile.Document{{Name: found.Path, Data: found.Data}}, ""), found}
	r.target.Dialect = c.Dialect
	if c.Dialect != "" && found.Source == source.FileSource && named(r) == Named(r.host) {
		restrict(r, found.Path) // not before it is known for a contract: the path may be a mistake
	}
	r.account.Status.Config.Dialect = c.Dialect
	r.account.Status.Config.KubernetesVersion = kubernetesVersion(c.Contract)
	if c.allow(r, c.Problems); len(c.fatal(r)) > 0 {
		_, problems := c.Plan(known)
		return c, c.refused(r, problems)
	}
	r.target.BaseOnly = c.Config.Join.Method == nodeconfig.JoinNone
	r.step(outcome.StepDecode, begin)
	return c, nil
}

// allow allows what whoever started the run and the image's own contract allow to be left out, where there is a problem of
// that kind, and reports whether there is one. The image's contract is looked at only then.
func (c contract) allow(r *run, problems []nodeconfig.Problem) bool {
	if !slices.ContainsFunc(problems, compile.IsUnapplied) {
		return false
	}
	c.AllowUnapplied(slices.Concat(r.allowed, allowedByImage(r))...)
	return true
}

// planned is the plan, and what is wrong once everything is left out that may be.
func (c contract) planned(r *run, known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	desired, problems := c.Plan(known)
	if c.allow(r, problems) {
		return c.Plan(known)
	}
	return desired, problems
}

// planStep plans the node, once the facts are there that a plan cannot be made without. What it returns is the step to the
// generation that somebody wants.
func planStep(ctx context.Context, r *run, c contract, machine *identity.Machine, origin generation.Origin) (transition.Step, error) {
	if r.given == nil {
		*machine = machine.Described(c.found.Instance)
		machine.Facts = awaitAddress(ctx, r, c.Config, machine.Facts)
		*machine = askTags(ctx, r, c.Config, *machine)
	}
	begin := r.now()
	desired, problems := c.planned(r, machine.Facts)
	r.account.Status.Config.Digest = desired.Config
	r.step(outcome.StepPlan, begin)
	if err := c.refused(r, problems); err != nil {
		return transition.Step{}, err
	}
	for i, problem := range r.account.Status.Problems {
		if i == status.MaxProblems {
			r.log.Warn("contract", "more", len(r.account.Status.Problems)-i)
			break
		}
		r.log.Warn("contract", "path", problem.Where(), "reason", problem.Reason)
	}
	step := transition.Step{Plan: desired, Entry: generation.Entry{Origin: origin, Revision: c.Config.Metadata.Revision}, Ask: transition.IfChanged}
	if origin == generation.Provision {
		step.Ask = transition.IfNew
	}
	if !r.target.BaseOnly { // a node that does not join has told nobody its address
		step.Entry.Addresses = strings.Join(machine.Facts.NodeIPs, " ")
	}
	return step, nil
}

// refused takes over what is wrong with a contract, and returns an error where no node can be made of it.
func (c contract) refused(r *run, problems []nodeconfig.Problem) error {
	r.account.Status.Problems = slices.Concat(problems, c.found.warnings)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		return &outcome.UnusableError{Path: c.found.Path, Fatal: fatal, ExitCode: c.ExitCode(problems)}
	}
	return nil
}

// kubernetesVersion is the version that a contract asks for, if it is one.
func kubernetesVersion(read *compile.Contract) string {
	at := read.Origin(plan.VersionPath)
	if slices.ContainsFunc(read.Problems, func(p nodeconfig.Problem) bool { return p.Path == at || p.Path == plan.VersionPath }) {
		return ""
	}
	return read.Config.Cluster.KubernetesVersion
}

// addressPatience is how long a machine may take to get an address, whose network comes up while the agent is at work
// already. It is as long as systemd waits for a network (systemd-networkd-wait-online.service(8)). For as long as its
// network is being started, behind cloud-init where there is one, it may take longer. A kubelet that is started without its
// address is planned again by the next boot.
const addressPatience = 2 * time.Minute

// networkOnline is reached when the network is up, or the wait for it has failed (systemd.special(7)).
const networkOnline = "network-online.target"

// lacks reports whether a plan cannot be made without a fact that is not there yet.
func lacks(config *nodeconfig.NodeConfig, known facts.Facts, need plan.Need) bool {
	return slices.Contains(plan.Needs(config, known), need)
}

// awaitAddress waits for the address that a plan cannot be made without, for no longer than the contract gives a
// provisioning: a network may never have been started. It returns all facts as they are then.
func awaitAddress(ctx context.Context, r *run, config *nodeconfig.NodeConfig, known facts.Facts) facts.Facts {
	if !lacks(config, known, plan.NeedAddress) {
		return known
	}
	begin := r.now()
	defer func() { r.step(outcome.StepAddress, begin) }()
	ctx, cancel := context.WithTimeout(ctx, config.Checks.Timeout.Std())
	defer cancel()
	for {
		if known = addressed(ctx, r, config, known); !lacks(config, known, plan.NeedAddress) {
			return known
		}
		// On a machine that boots slowly the network comes up behind cloud-init, after a minute and more.
		network, err := r.host.UnitState(ctx, networkOnline)
		if err != nil || !network.Starting || ctx.Err() != nil {
			break
		}
	}
	r.log.Warn("the machine has no address for the node yet; the kubelet chooses one", "waited", r.now().Sub(begin).Round(time.Second).String())
	return known
}

// addressed waits for an address that the node can register, and returns the facts as they are then.
func addressed(ctx context.Context, r *run, config *nodeconfig.NodeConfig, known facts.Facts) facts.Facts {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	for r.host.WaitForAddress(ctx, known.NodeIPs) {
		if known = gatherAgain(r, known); !lacks(config, known, plan.NeedAddress) {
			break
		}
	}
	return known
}

// tagsPatience is how long the metadata service may take to name the machine's tags, where a plan depends on them: it is
// not reached before the network is up. A node can be made without them, and the watcher asks again.
const tagsPatience = addressPatience

// askTags asks the metadata service for the machine's tags, where the plan depends on one and they are not known. That is
// once for a machine: they are recorded.
func askTags(ctx context.Context, r *run, config *nodeconfig.NodeConfig, machine identity.Machine) identity.Machine {
	cloud := r.agent.Cloud
	if cloud == nil || !lacks(config, machine.Facts, plan.NeedTags) {
		return machine
	}
	service := cloud.Service(machine.Facts.Platform)
	if service == nil {
		return machine
	}
	begin := r.now()
	defer func() { r.step(outcome.StepTags, begin) }()
	ctx, cancel := context.WithTimeout(ctx, min(tagsPatience, config.Checks.Timeout.Std()))
	defer cancel()
	said, err := service.Instance(ctx)
	if err != nil {
		r.log.Warn("the machine's tags are not known; the node is planned without them", "error", err)
		return machine
	}
	return machine.Told(said)
}

// descriptionPatience is how long the metadata service may take to describe the machine, when nobody waits.
const descriptionPatience = 10 * time.Second

// recordDescription adds to the recorded facts what the metadata service says of the machine, once nobody waits for the
// agent: a node can be made without. A plan from the recorded facts stays what it was.
func recordDescription(ctx context.Context, r *run, known facts.Facts) {
	cloud := r.agent.Cloud
	if cloud == nil || r.given != nil || known.Instance != nil && known.Instance.Type != "" {
		return
	}
	service := cloud.Service(known.Platform)
	if service == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), descriptionPatience)
	defer cancel()
	said, err := service.Instance(ctx)
	if err != nil {
		r.log.Info("the metadata service does not describe the machine", "error", err)
		return
	}
	said.Hostname = "" // the plan was made with that of the contract's source, or with none
	if known.Instance != nil {
		said.Hostname = known.Instance.Hostname
	}
	known.Instance = &said
	_ = r.guarded(func() error { recordFacts(r, known); return nil })
}
