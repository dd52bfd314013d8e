package agent

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
)

// IdentityPath is the record of which machine was provisioned.
var IdentityPath = state.Identity.Path

// identify gathers the facts, and finds out whether the disk has been another machine's. What a kubelet has
// made for itself there is removed, before anybody starts one; and so are the results, which are not this
// machine's.
func (p *provision) identify(ctx context.Context) error {
	if err := p.recall(); err != nil {
		p.Log.Warn("cannot read the record of this machine; assuming that it is the same machine", "path", IdentityPath, "error", err)
	}
	last := p.machine.Last
	if last == nil {
		return nil
	}
	attached := p.attached(ctx, last)
	var reason string
	if p.machine, reason = p.machine.Recognize(last, attached); reason == "" || p.opts.DryRun {
		return nil
	}
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.unlock()
	if again, err := identity.Read(p.Host); err == nil && again != nil {
		if own, other := p.machine.Recognize(again, attached); other == "" {
			p.machine = own // another run has been quicker
			return nil
		}
	}
	p.Log.Warn("this disk was cloned from another machine; provisioning from scratch", "reason", reason, "source", last.Source)
	p.account.Status.Identity = reason
	if err := p.retract(); err != nil {
		return err
	}
	return p.machine.RemoveForeign(p.Host)
}

// recall gathers the facts, and reads what is recorded of the machine.
func (p *provision) recall() (err error) {
	begin := p.Now()
	known := p.gather()
	p.step(outcome.StepFacts, begin)
	p.machine, err = identity.Recall(p.Host, known)
	return err
}

// gather returns the given facts, or gathers them.
func (p *provision) gather() facts.Facts {
	if p.opts.Facts != nil {
		return *p.opts.Facts
	}
	return facts.Gather(p.Host)
}

// attached is what a disk that is attached, or the firmware, says of the machine, where the last contract came
// from there: a copy of a virtual machine can have all names of its original but the one on that disk.
func (p *provision) attached(ctx context.Context, last *identity.Record) *facts.Instance {
	if last.Instance == nil || last.Instance.ID == "" || last.Kept == "" || !source.IsAttached(last.Source) {
		return nil
	}
	search := p.search(p.machine.Facts)
	search.Only, search.Wait = last.Source, false
	found, err := search.Find(ctx)
	if err != nil {
		return nil // it has been taken away, as Azure does
	}
	return &found.Instance
}

// moved reports whether the machine has lost an address that the current generation was planned with, and removes the
// certificate that the kubelet has signed for it.
func (p *provision) moved(store *generation.Store) (bool, error) {
	current, _ := store.Current()
	before, now := strings.Fields(current.Addresses), p.machine.Facts.NodeIPs
	if !identity.Readdressed(before, now) {
		return false, nil
	}
	p.Log.Warn("the machine's address has changed; planning the node again", "before", before, "now", now)
	p.account.Status.Identity = "the machine's address is another"
	return true, identity.RemoveServingCertificate(p.Host)
}
