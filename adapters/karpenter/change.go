package karpenter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/report"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
	agentstatus "github.com/slipway-dev/slipway/status"
)

// current returns a claim's change. This process's own record wins over the claim's annotation, because the claim may be an older
// copy.
func (p *Provider) current(claim *v1.NodeClaim) change {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.changes[claim.UID]
	shown := changeOf(claim)
	switch {
	case !ok:
		return shown
	case known.done && claim.Annotations[AnnotationKey] == known.Key, !known.done && shown.Key == known.Key && shown.Sent == known.Sent && shown.Ended == known.Ended:
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

// verdict is what is to be done about a node.
type verdict struct {
	// reason is why the node is to be replaced. Empty means that it is not.
	reason cloudprovider.DriftReason
	// changing reports whether a change in place is under way or waits for its turn.
	changing bool
}

// changeInPlace changes a node while it runs: it begins the change, or checks the result of one that has begun.
func (p *Provider) changeInPlace(ctx context.Context, d drifting, now change) (verdict, error) {
	switch {
	case now.Key != d.wanted.Key() || now.unsent():
		return p.begin(ctx, d, now)
	case now.done:
		return verdict{}, nil
	case now.Ended != "":
		return verdict{reason: p.replaced(d, launch.InPlace, now.Ended)}, nil
	}
	return p.follow(ctx, d, now)
}

// begin updates the machine when it is its turn. Before that it writes the intent into the claim, and the API server takes this only
// for the version of the claim that was read: for each record of a claim, one change begins, however old the copies are that
// controllers work with. The same change is sent again only if no process knows that the cloud has accepted it.
func (p *Provider) begin(ctx context.Context, d drifting, before change) (verdict, error) {
	waits := verdict{changing: true}
	if !d.claim.StatusConditions(status.WithObservedOnly()).IsTrue(v1.ConditionTypeRegistered) {
		return waits, nil // it still needs the token that it was made with
	}
	others, err := p.others(ctx, d.claim)
	if err != nil {
		return waits, err
	}
	toldBefore := before.Told && !before.done
	next := change{Key: d.wanted.Key(), Since: p.clock.Now().UTC(), Told: toldBefore || slices.ContainsFunc(d.changes, ofContract)}
	l := Launch{Name: d.claim.Name, Launch: d.wanted}
	if next.Told {
		userData, err := d.wanted.UserData(spent)
		if err != nil {
			return waits, fmt.Errorf("the change of %s: %w", d.claim.Name, err)
		}
		l.UserData = nodeconfig.NewSecret(userData)
	}
	giveUp, ok := p.turn(d.claim, others, next)
	if !ok {
		return waits, nil
	}
	if err := p.annotate(ctx, d.claim, d.claim.ResourceVersion, next.annotated()); err != nil {
		giveUp()
		return waits, unlessOutdated(err)
	}
	switch err := p.machines.Update(ctx, d.claim.Status.ProviderID, l); {
	case errors.Is(err, ErrFixed):
		next.Told = toldBefore
		return p.end(ctx, d, next, "", "MachineFixed: "+without(err, l.UserData.Reveal()).Error())
	case errors.Is(err, ErrNotFound):
		p.forget(d.claim)
		return verdict{}, nil // the core finds out
	case err != nil:
		return waits, fmt.Errorf("the change of %s: %w", d.claim.Name, without(err, l.UserData.Reveal()))
	case l.UserData.IsZero():
		return p.finish(ctx, d, next, "")
	}
	next.Sent = true
	p.remember(d.claim, next)
	return waits, p.annotate(ctx, d.claim, "", next.annotated())
}

// unlessOutdated returns nil if the API server has refused a write because the claim has changed since the caller read it. The
// controller then reconciles the claim's next copy.
func unlessOutdated(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// ofContract reports whether a node changes because its contract has changed.
func ofContract(c launch.Change) bool {
	return c.Class == launch.InPlace && strings.HasPrefix(c.Path, "$.node")
}

// spent is a placeholder, not a valid token. It is in the user data of a machine whose node has joined: such a node has a
// certificate and needs no other credential. So a change takes no token, and its contract is the same at any time.
var spent = nodeconfig.NewSecret("000000.0000000000000000")

// others are the other claims of the same pool.
func (p *Provider) others(ctx context.Context, claim *v1.NodeClaim) ([]v1.NodeClaim, error) {
	var list v1.NodeClaimList
	pool := client.MatchingLabels{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]}
	if err := p.client.List(ctx, &list, pool); err != nil {
		return nil, fmt.Errorf("the claims of the pool: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(c v1.NodeClaim) bool { return c.UID == claim.UID || c.DeletionTimestamp != nil }), nil
}

// turn reports whether a claim's change may begin, and then remembers it; giveUp forgets it again.
func (p *Provider) turn(claim *v1.NodeClaim, others []v1.NodeClaim, next change) (giveUp func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changing := 0
	for i := range others {
		known, ok := p.changes[others[i].UID]
		if !ok {
			known = changeOf(&others[i])
		}
		if known.pending() {
			changing++
		}
	}
	if !p.rollout.begins(changing, next.Since) {
		return nil, false
	}
	before, known := p.changes[claim.UID]
	p.changes[claim.UID] = next
	if !known {
		return func() { p.forget(claim) }, true
	}
	return func() { p.remember(claim, before) }, true
}

// follow checks the result of a change: what the machine has reported, and whether the change takes too long.
func (p *Provider) follow(ctx context.Context, d drifting, now change) (verdict, error) {
	waits := verdict{changing: true}
	machine, err := p.machines.Get(ctx, d.claim.Status.ProviderID)
	if errors.Is(err, ErrNotFound) {
		return verdict{}, nil // the core finds out
	}
	if err != nil {
		return waits, fmt.Errorf("the change of %s: %w", d.claim.Name, err)
	}
	outcome, err := outcomeOfChange(machine.Report, d.wanted)
	switch {
	case err != nil:
		return waits, err
	case outcome != nil && outcome.Succeeded():
		return p.finish(ctx, d, now, d.claim.ResourceVersion)
	case outcome != nil:
		return p.end(ctx, d, now, d.claim.ResourceVersion, string(outcome.Reason)+": "+outcome.Message)
	}
	if p.clock.Since(now.Since) >= p.rollout.Deadline {
		why := fmt.Sprintf("%s: it was to change in place, and has not in %s", report.TimedOut, p.rollout.Deadline)
		return p.end(ctx, d, now, d.claim.ResourceVersion, why)
	}
	return waits, nil
}

// outcomeOfChange is what a machine has reported of the change to a launch. It is nil if there is no report of it yet.
func outcomeOfChange(data []byte, wanted *launch.Launch) (*report.Outcome, error) {
	said, err := agentstatus.Parse(data)
	if err != nil {
		return nil, nil // only a status.json names its contract
	}
	contract, err := wanted.Contract(spent)
	if err != nil {
		return nil, err
	}
	if said.Config.Digest != nodeconfig.Digest(node.Read(node.Document{Data: contract.Document}).Config()) {
		return nil, nil
	}
	outcome, err := report.Read(data)
	if errors.Is(err, report.ErrNoOutcome) {
		return nil, nil
	}
	return outcome, err
}

// finish records that a node has changed. Version is as for annotate.
func (p *Provider) finish(ctx context.Context, d drifting, now change, version string) (verdict, error) {
	if err := p.annotate(ctx, d.claim, version, recordOf(d.wanted), AnnotationChange); err != nil {
		return verdict{changing: true}, unlessOutdated(err)
	}
	now.done = true
	p.remember(d.claim, now)
	paths := make([]string, len(d.changes))
	for i, c := range d.changes {
		paths[i] = c.Path
	}
	p.event(d.claim, corev1.EventTypeNormal, "ChangedInPlace", "the node has changed while it ran: "+strings.Join(paths, ", "))
	return verdict{}, nil
}

// end records that a node cannot change while it runs. Version is as for annotate.
func (p *Provider) end(ctx context.Context, d drifting, now change, version, why string) (verdict, error) {
	now.Ended = short(why)
	if err := p.annotate(ctx, d.claim, version, now.annotated()); err != nil {
		return verdict{changing: true}, unlessOutdated(err)
	}
	p.remember(d.claim, now)
	return verdict{reason: p.replaced(d, launch.InPlace, now.Ended)}, nil
}
