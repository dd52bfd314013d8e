package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
	agentstatus "github.com/slipway-dev/slipway/status"
)

// current is the change of a claim that is known: that of this process goes before that of the claim, which may be an older one.
func (p *Provider) current(claim *v1.NodeClaim) change {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.changes[claim.UID]
	shown := changeOf(claim)
	switch {
	case !ok:
		return shown
	case known.done && claim.Annotations[AnnotationKey] == known.Key, !known.done && shown.Key == known.Key && shown.Ended == known.Ended:
		delete(p.changes, claim.UID) // the claim shows it
	}
	return known
}

// remember keeps a change until the claim shows it.
func (p *Provider) remember(claim *v1.NodeClaim, c change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes[claim.UID] = c
}

// forget drops the change of a claim.
func (p *Provider) forget(claim *v1.NodeClaim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.changes, claim.UID)
}

// changeInPlace has a node change while it runs: it begins the change, or looks what has become of it.
func (p *Provider) changeInPlace(ctx context.Context, claim *v1.NodeClaim, now change, wanted *launch.Template, changes []launch.Change) (cloudprovider.DriftReason, bool, error) {
	switch {
	case now.Key != wanted.Key():
		return p.begin(ctx, claim, now, wanted, changes)
	case now.done:
		return "", false, nil
	case now.Ended != "":
		return p.replaced(claim, wanted, NotChangedInPlace, changes, launch.InPlace, now.Ended), false, nil
	}
	return p.follow(ctx, claim, now, wanted, changes)
}

// begin tells the machine to change, when it is its turn.
func (p *Provider) begin(ctx context.Context, claim *v1.NodeClaim, before change, wanted *launch.Template, changes []launch.Change) (cloudprovider.DriftReason, bool, error) {
	if !claim.StatusConditions(status.WithObservedOnly()).IsTrue(v1.ConditionTypeRegistered) {
		return "", true, nil // it still needs the token that it was made with
	}
	others, err := p.others(ctx, claim)
	if err != nil {
		return "", true, err
	}
	next := change{Key: wanted.Key(), Since: p.clock.Now().UTC(), Told: before.Told && !before.done}
	if !p.turn(claim, others, next) {
		return "", true, nil
	}
	l := Launch{Name: claim.Name, Template: wanted}
	contract := next.Told || slices.ContainsFunc(changes, func(c launch.Change) bool { return c.Class == launch.InPlace && onNode(c) })
	if contract {
		userData, err := wanted.UserData(spent)
		if err != nil {
			p.forget(claim)
			return "", true, fmt.Errorf("the change of %s: %w", claim.Name, err)
		}
		l.UserData = nodeconfig.NewSecret(userData)
	}
	switch err := p.machines.Update(ctx, claim.Status.ProviderID, l); {
	case errors.Is(err, ErrFixed):
		return p.end(ctx, claim, next, "MachineFixed: "+without(err, l.UserData.Reveal()).Error(), wanted, changes)
	case errors.Is(err, ErrNotFound):
		p.forget(claim)
		return "", false, nil // the core finds out
	case err != nil:
		p.forget(claim)
		return "", true, fmt.Errorf("the change of %s: %w", claim.Name, without(err, l.UserData.Reveal()))
	case !contract:
		return p.finish(ctx, claim, next, wanted, changes)
	}
	next.Told = true
	p.remember(claim, next)
	return "", true, p.annotate(ctx, claim, next.annotated())
}

// others are the claims of the same pool.
func (p *Provider) others(ctx context.Context, claim *v1.NodeClaim) ([]v1.NodeClaim, error) {
	var list v1.NodeClaimList
	if err := p.client.List(ctx, &list, client.MatchingLabels{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]}); err != nil {
		return nil, fmt.Errorf("the claims of the pool: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(c v1.NodeClaim) bool { return c.UID == claim.UID || c.DeletionTimestamp != nil }), nil
}

// turn reports whether a claim's change may begin, and then remembers it. launch.Select decides, of the changes of the same pool.
func (p *Provider) turn(claim *v1.NodeClaim, others []v1.NodeClaim, next change) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	nodes := []launch.NodeState{{Name: claim.Name, Class: launch.InPlace}}
	for i := range others {
		known, ok := p.changes[others[i].UID]
		if !ok {
			known = changeOf(&others[i])
		}
		if known.pending() {
			nodes = append(nodes, launch.NodeState{Name: others[i].Name, Class: launch.Ignore, ChangingSince: known.Since})
		}
	}
	for _, step := range launch.Select(nodes, next.Since, p.rollout) {
		if step.Name == claim.Name && step.Class == launch.InPlace {
			p.changes[claim.UID] = next
			return true
		}
	}
	return false
}

// follow looks what has become of a change: what the machine says of it, and whether it takes too long.
func (p *Provider) follow(ctx context.Context, claim *v1.NodeClaim, now change, wanted *launch.Template, changes []launch.Change) (cloudprovider.DriftReason, bool, error) {
	machine, err := p.machines.Get(ctx, claim.Status.ProviderID)
	if errors.Is(err, ErrNotFound) {
		return "", false, nil // the core finds out
	}
	if err != nil {
		return "", true, fmt.Errorf("the change of %s: %w", claim.Name, err)
	}
	outcome, err := outcomeOfChange(machine.Report, wanted)
	switch {
	case err != nil:
		return "", true, err
	case outcome != nil && outcome.Succeeded():
		return p.finish(ctx, claim, now, wanted, changes)
	case outcome != nil:
		return p.end(ctx, claim, now, string(outcome.Reason)+": "+outcome.Message, wanted, changes)
	}
	state := launch.NodeState{Name: claim.Name, Class: launch.InPlace, ChangingSince: now.Since}
	for _, step := range launch.Select([]launch.NodeState{state}, p.clock.Now(), p.rollout) {
		if step.Class == launch.Replace {
			return p.end(ctx, claim, now, "TimedOut: "+step.Reason, wanted, changes)
		}
	}
	return "", true, nil
}

// outcomeOfChange is what a machine has reported of the change to a template; nil for nothing yet.
func outcomeOfChange(report []byte, wanted *launch.Template) (*launch.Outcome, error) {
	said, err := agentstatus.Parse(report)
	if err != nil {
		return nil, nil // no other report says which contract it is about
	}
	contract, err := wanted.Contract(spent)
	if err != nil {
		return nil, err
	}
	if said.Config.Digest != nodeconfig.Digest(node.Read(node.Document{Data: contract.Document}).Config()) {
		return nil, nil
	}
	outcome, err := launch.ReadOutcome(report)
	if errors.Is(err, launch.ErrNoOutcome) {
		return nil, nil
	}
	return outcome, err
}

// finish writes down that a node has changed.
func (p *Provider) finish(ctx context.Context, claim *v1.NodeClaim, now change, wanted *launch.Template, changes []launch.Change) (cloudprovider.DriftReason, bool, error) {
	if err := p.annotate(ctx, claim, recordOf(wanted), AnnotationChange); err != nil {
		return "", true, err
	}
	now.done = true
	p.remember(claim, now)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	p.event(claim, corev1.EventTypeNormal, "ChangedInPlace", "the node has changed while it ran: "+strings.Join(paths, ", "))
	return "", false, nil
}

// end writes down that a node cannot change while it runs.
func (p *Provider) end(ctx context.Context, claim *v1.NodeClaim, now change, why string, wanted *launch.Template, changes []launch.Change) (cloudprovider.DriftReason, bool, error) {
	now.Ended = short(why)
	if err := p.annotate(ctx, claim, now.annotated()); err != nil {
		return "", true, err
	}
	p.remember(claim, now)
	return p.replaced(claim, wanted, NotChangedInPlace, changes, launch.InPlace, now.Ended), false, nil
}
