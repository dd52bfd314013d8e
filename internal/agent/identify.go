package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
)

// IdentityPath is the record of which machine was provisioned.
var IdentityPath = state.Identity.Path

// recall gathers the facts, and reads what is recorded of the machine.
func recall(r *run) identity.Machine {
	begin := r.now()
	var known facts.Facts
	if r.given != nil {
		known = *r.given
	} else {
		known = facts.Gather(r.host)
	}
	r.account.Cloud = known.Platform
	r.step(outcome.StepFacts, begin)
	machine, err := identity.Recall(r.host, known)
	if err != nil {
		r.log.Warn("cannot read the record of this machine; assuming that it is the same machine", "path", IdentityPath, "error", err)
	}
	return machine
}

// identify finds out which machine this is. It removes what another machine has left on the disk, before a kubelet
// starts. It also removes the result of an earlier failed run before it waits for a contract: a program that waits
// meanwhile must get the result of this boot.
func identify(ctx context.Context, r *run, lock *lock, machine identity.Machine, opts ProvisionOptions) (identity.Machine, error) {
	machine, err := removeForeign(ctx, r, lock, machine)
	if err != nil {
		return machine, err
	}
	r.gate = holdKubelet(ctx, r, opts.Identified)
	if opts.Wait <= 0 {
		return machine, nil
	}
	if failed, err := publish.FailureMarked(r.host); err != nil || !failed {
		return machine, err
	}
	return machine, lock.during(ctx, func() error { return r.publisher().RemoveMarkers(r.target) })
}

// removeForeign finds out whether the disk has been another machine's, and removes what a kubelet has made for itself there,
// and the results, which are not this machine's.
func removeForeign(ctx context.Context, r *run, lock *lock, machine identity.Machine) (identity.Machine, error) {
	last := machine.Last
	if last == nil {
		return machine, nil
	}
	said := attached(ctx, r, machine.Facts, last)
	machine, reason := machine.Recognize(last, said)
	if reason == "" || r.dryRun {
		return machine, nil
	}
	err := lock.during(ctx, func() error {
		if again, err := identity.Read(r.host); err == nil && again != nil {
			if own, other := machine.Recognize(again, said); other == "" {
				machine = own // another run has been quicker
				return nil
			}
		}
		r.log.Warn("this disk was cloned from another machine; provisioning from scratch", "reason", reason, "source", last.Source)
		r.account.Status.Identity = reason
		if err := r.publisher().RemoveMarkers(r.target); err != nil {
			return err
		}
		// systemd's kubelet would join with the other machine's host name. The engine starts it when this machine has its own.
		if err := apply.Hold(ctx, r.host, plan.KubeletUnit); err != nil {
			r.log.Error("cannot hold back the other machine's kubelet, which may join with that machine's name", "error", err)
		}
		return machine.RemoveForeign(r.host)
	})
	return machine, err
}

// attached returns what an attached disk, or the firmware, states about the machine, if the last contract came from
// there. Reason: a copy of a virtual machine can have all identifiers of its original except the one on that disk.
func attached(ctx context.Context, r *run, known facts.Facts, last *identity.Record) *facts.Instance {
	if last.Instance == nil || last.Instance.ID == "" || last.Kept == "" || !source.IsAttached(last.Source) {
		return nil
	}
	drive := search(r, known)
	drive.Only = last.Source
	found, err := drive.Find(ctx)
	if err != nil {
		return nil // it has been taken away, as Azure does
	}
	return &found.Instance
}

// removeLostAddress reports whether the machine has lost an address that the current generation was planned with, and
// removes the certificate that the kubelet has signed for it.
func removeLostAddress(r *run, store *generation.Store, known facts.Facts) (bool, error) {
	current, _ := store.Current()
	before, now := strings.Fields(current.Addresses), known.NodeIPs
	if !identity.Readdressed(before, now) {
		return false, nil
	}
	r.log.Warn("the machine's address has changed; planning the node again", "before", before, "now", now)
	r.account.Status.Identity = "the machine's address is another"
	return true, identity.RemoveServingCertificate(r.host)
}

// strayed reports whether an address that the node was planned with is gone, and learns those that are there. An
// address that the machine has when it boots may be an old lease, or one that its network's settings take away.
func strayed(r *run, machine *identity.Machine) bool {
	if machine == nil || r.given != nil || r.dryRun {
		return false
	}
	now := facts.NodeIPs(r.host)
	gone := slices.DeleteFunc(slices.Clone(machine.Facts.NodeIPs), func(ip string) bool { return slices.Contains(now, ip) })
	if len(gone) == 0 {
		return false
	}
	r.log.Warn("an address that the node was planned with is gone; it is planned again", "gone", gone, "now", now)
	machine.Facts = gatherAgain(r, machine.Facts)
	return true
}

// gatherAgain returns the current facts, with the cloud's earlier answers.
func gatherAgain(r *run, known facts.Facts) facts.Facts {
	now := facts.Gather(r.host)
	now.Instance, now.Authorities, now.KubeletDefaults = known.Instance, known.Authorities, known.KubeletDefaults
	return now
}

// recordFacts records the facts, unless they were given.
func recordFacts(r *run, known facts.Facts) {
	if r.given != nil {
		return
	}
	if err := state.Facts.WriteJSON(r.host, known); err != nil {
		r.log.Warn("cannot record the facts", "path", FactsPath, "error", err)
	}
}
