package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// contract is a contract that the agent has found and read.
type contract struct {
	*compile.Contract
	found located
}

// read reads the contract at found, and refuses one that cannot make a node.
func read(r *run, found located, known facts.Facts) (*contract, error) {
	begin := r.now()
	c := &contract{compile.ReadAs([]compile.Document{{Name: found.Path, Data: found.Data}}, r.reading), found}
	r.target.Dialect = c.Dialect
	if c.Dialect != "" && found.Source == source.FileSource && named(r) == Named(r.host) {
		restrict(r, found.Path) // not before the file is known to be a contract: the path may be a mistake
	}
	r.account.Status.Config.Dialect = c.Dialect
	r.account.Status.Config.KubernetesVersion = kubernetesVersion(c.Contract, known)
	if c.allow(r, c.Problems); len(c.fatal(r)) > 0 {
		_, problems := c.Plan(known)
		return c, c.refused(r, problems)
	}
	r.target.BaseOnly = c.Config.Join.Method == nodeconfig.JoinNone
	r.step(outcome.StepDecode, begin)
	return c, nil
}

// allow leaves out the settings that the user and the image's contract allow to be left out, if problems has one of
// that kind, and reports whether it has. It reads the image's contract only then.
func (c *contract) allow(r *run, problems []nodeconfig.Problem) bool {
	if !slices.ContainsFunc(problems, compile.IsUnapplied) {
		return false
	}
	c.AllowUnapplied(slices.Concat(r.allowed, allowedByImage(r))...)
	return true
}

// planned returns the plan, and the problems that remain without the settings that may be left out.
func (c *contract) planned(r *run, known facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	plan := c.Plan
	if r.target.BaseOnly {
		plan = c.PlanImage
	}
	desired, problems := plan(known)
	if c.allow(r, problems) {
		return plan(known)
	}
	return desired, problems
}

// planStep plans the node, once the facts that a plan needs are there. It returns the step to the desired generation.
func planStep(ctx context.Context, r *run, c *contract, machine *identity.Machine, origin generation.Origin) (transition.Step, error) {
	if r.given == nil {
		*machine = machine.Described(c.found.Instance)
		*machine = awaitFacts(ctx, r, c.Config, *machine)
	}
	if err := c.authorize(ctx, r, machine); err != nil {
		return transition.Step{}, err
	}
	c.askDefaults(ctx, r, machine)
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
	if r.question != nil {
		step.Late = func(context.Context) resource.Plan { return c.withDefaults(r, machine, desired) }
	}
	if !r.target.BaseOnly { // a node that does not join has registered no address
		step.Entry.Addresses = strings.Join(machine.Facts.NodeIPs, " ")
	}
	return step, nil
}

// refused records a contract's problems, and returns an error if no node can be made of it.
func (c *contract) refused(r *run, problems []nodeconfig.Problem) error {
	r.account.Status.Problems = slices.Concat(problems, c.found.warnings)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		return &outcome.UnusableError{Path: c.found.Path, Fatal: fatal, ExitCode: c.ExitCode(problems)}
	}
	return nil
}

// kubernetesVersion is the version of the node's kubelet, if the contract asks for one.
func kubernetesVersion(read *compile.Contract, known facts.Facts) string {
	at := read.Origin(setting.KubernetesVersion)
	if slices.ContainsFunc(read.Problems, func(p nodeconfig.Problem) bool { return p.Path == at || p.Path == setting.KubernetesVersion }) {
		return ""
	}
	return concern.KubernetesVersion(read.Config, known)
}
