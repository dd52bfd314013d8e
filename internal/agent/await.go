package agent

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// addressPatience is how long the agent waits for an address: the network may come up while the agent is already at
// work. It is as long as systemd waits for a network (systemd-networkd-wait-online.service(8)). While the network is
// still being started, for example behind cloud-init, the agent waits longer. If the kubelet starts without its
// address, the next boot plans the node again.
const addressPatience = 2 * time.Minute

// networkOnline is reached when the network is up, or the wait for it has failed (systemd.special(7)).
const networkOnline = "network-online.target"

// lacks reports whether a plan cannot be made without a fact that is not there yet.
func lacks(config *nodeconfig.NodeConfig, known facts.Facts, need plan.Need) bool {
	return slices.Contains(plan.Needs(config, known), need)
}

// awaitFacts waits for the facts that a plan cannot be made without, for no longer than the contract gives a
// provisioning: a network may never have been started. It returns the machine with all facts as they are then.
func awaitFacts(ctx context.Context, r *run, config *nodeconfig.NodeConfig, machine identity.Machine) identity.Machine {
	ctx, cancel := context.WithTimeout(ctx, config.Checks.Timeout.Std())
	defer cancel()
	if lacks(config, machine.Facts, plan.NeedAddress) {
		machine.Facts = awaitAddress(ctx, r, config, machine.Facts)
	}
	if lacks(config, machine.Facts, plan.NeedDescription) {
		machine = awaitDescription(ctx, r, machine)
	}
	if lacks(config, machine.Facts, plan.NeedAuthorities) {
		machine = awaitAuthorities(ctx, r, config, machine)
	}
	return machine
}

// awaitAddress waits for the addresses that the node registers.
func awaitAddress(ctx context.Context, r *run, config *nodeconfig.NodeConfig, known facts.Facts) facts.Facts {
	begin := r.now()
	defer func() { r.step(outcome.StepAddress, begin) }()
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
	seen := known.NodeIPs
	for r.host.WaitForAddress(ctx, seen) {
		known = gatherAgain(r, known)
		// The facts get the addresses of the list by which the next wait knows what is new: an address can go and come back between
		// two readings, as when cloud-init's dhclient has it before systemd-networkd.
		list, _ := r.host.Addresses() // without a route there are none
		known.NodeIPs, seen = facts.NodeIPsOf(list), nil
		for _, a := range list {
			seen = append(seen, a.String())
		}
		if !lacks(config, known, plan.NeedAddress) {
			break
		}
	}
	return known
}

// awaitDescription asks the cloud's metadata service to describe the machine, which it can when the network is up. A node
// can be made without: what it lacks then is in the plan's problems, and the next boot asks again.
func awaitDescription(ctx context.Context, r *run, machine identity.Machine) identity.Machine {
	begin := r.now()
	defer func() { r.step(outcome.StepMetadata, begin) }()
	said, err := describe(ctx, r, machine.Facts, addressPatience)
	if err != nil {
		r.log.Warn("the metadata service does not describe the machine; the node is planned without what it would say", "error", err)
	}
	if said == nil {
		return machine
	}
	return machine.Told(*said)
}

// describe asks the cloud's metadata service for its description of the machine, for as long as patience. It returns
// nil if the machine has no such service.
func describe(ctx context.Context, r *run, known facts.Facts, patience time.Duration) (*facts.Instance, error) {
	if r.agent.Cloud == nil {
		return nil, nil
	}
	service := r.agent.Cloud.Service(known.Platform)
	if service == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, err := service.Instance(ctx)
	if err != nil {
		return nil, err
	}
	said.Hostname = "" // the plan takes it from the contract's source only
	if known.Instance != nil {
		said.Hostname = known.Instance.Hostname
	}
	return &said, nil
}

// awaitAuthorities asks the cloud which certificate authorities the machine must trust. Without an answer the node
// keeps the last known ones. If this machine's cloud has answered before, the wait is short.
func awaitAuthorities(ctx context.Context, r *run, config *nodeconfig.NodeConfig, machine identity.Machine) identity.Machine {
	before, patience := identity.Authorities(r.host), unawaited
	if r.agent.Cloud == nil {
		machine.Facts.Authorities = before
		return machine
	}
	begin := r.now()
	defer func() { r.step(outcome.StepAuthorities, begin) }()
	if before == nil {
		before, patience = new(facts.Authorities), addressPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, err := r.agent.Cloud.Authorities(ctx, regionOf(config, machine.Facts))
	if err != nil {
		r.log.Warn("the cloud does not say which certificate authorities the machine is to trust", "error", err)
		said.Unanswered = true
	}
	said = said.After(*before)
	machine.Facts.Authorities = &said
	return machine
}

// regionOf returns the machine's region: the contract's, or else the cloud's.
func regionOf(config *nodeconfig.NodeConfig, known facts.Facts) string {
	switch {
	case config.Cloud.Azure != nil && config.Cloud.Azure.Location != "":
		return config.Cloud.Azure.Location
	case known.Instance != nil:
		return known.Instance.Region
	}
	return ""
}

// unawaited is how long the agent waits for cloud data that is optional for a node.
const unawaited = 10 * time.Second

// recordDescription adds the metadata service's description of the machine to the recorded facts. It runs when no
// program waits for the agent any more, because a node works without it. A plan from the recorded facts stays the same.
func recordDescription(ctx context.Context, r *run, known facts.Facts) {
	if r.given != nil || known.Instance != nil && known.Instance.Type != "" {
		return
	}
	said, err := describe(context.WithoutCancel(ctx), r, known, unawaited)
	if err != nil {
		r.log.Info("the metadata service does not describe the machine", "error", err)
	}
	if said != nil {
		known.Instance = said
		_ = r.guarded(func() error { recordFacts(r, known); return nil })
	}
}
