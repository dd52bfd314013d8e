package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/status"
)

// Cloud is the machine's cloud.
type Cloud interface {
	// Service is the metadata service of a platform, nil where it has none that is known.
	Service(platform string) source.Service
	// Fetch gets a document of a seed.
	Fetch(ctx context.Context, base, name string) ([]byte, error)
	// Platform hears of the machine.
	publish.Platform
}

// contract reads the contract that is named, or finds one.
func (p *provision) contract(ctx context.Context) (source.Contract, error) {
	if p.given != nil {
		return *p.given, nil
	}
	if p.opts.Config != "" {
		return source.File(p.named(), p.opts.Config)
	}
	search := p.search(p.machine.Facts)
	if p.opts.Wait > 0 && !p.opts.DryRun {
		search.Waiting = func() { p.preparing = p.prepare(ctx, p.machine.Facts) }
	}
	if p.opts.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.opts.Wait)
		defer cancel()
	}
	found, err := search.Find(ctx)
	for _, a := range search.Tried() {
		p.account.Status.Sources = append(p.account.Status.Sources, status.Source{
			Name: a.Source, Found: a.Found, Result: a.Result,
			StartMs: a.Start.Sub(p.account.Status.StartedAt).Milliseconds(), DurationMs: a.Duration.Milliseconds(),
		})
	}
	return found, err
}

// restrict takes contracts from all but the superuser: others have delivered them, some readable for all, and they
// hold what a node joins with.
func (p *provision) restrict(paths ...string) {
	if p.opts.DryRun {
		return
	}
	for _, path := range paths {
		had, err := p.Host.Restrict(path)
		switch {
		case had && err == nil:
			p.Log.Warn("the contract was readable for others; now only root can read it", "path", path)
		case had:
			p.Log.Warn("the contract is readable for others, and its mode cannot be changed", "path", path, "error", err)
		}
	}
}

// search looks for the contract in all places of this machine.
func (p *provision) search(known facts.Facts) *source.Search {
	s := &source.Search{Machine: p.Host, Facts: known, Only: p.opts.Source, Wait: p.opts.Wait > 0, Now: p.Now}
	if p.machine.Foreign != nil {
		s.Other, s.OtherSum = true, p.machine.Foreign.Sum
	}
	if p.Cloud != nil {
		s.Service, s.Fetch = p.Cloud.Service(known.Platform), p.Cloud.Fetch
	}
	return s
}

// descriptionPatience is how long the metadata service may take to describe the machine, when nobody waits.
const descriptionPatience = 10 * time.Second

// complete adds to the recorded facts what the metadata service says of the machine, once nobody waits for the
// agent: a node can be made without. A plan from the recorded facts stays what it was.
func (p *provision) complete(ctx context.Context) {
	if p.Cloud == nil || p.opts.Facts != nil || p.isScript() || p.machine.Facts.Instance != nil && p.machine.Facts.Instance.Type != "" {
		return
	}
	service := p.Cloud.Service(p.machine.Facts.Platform)
	if service == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), descriptionPatience)
	defer cancel()
	said, err := service.Instance(ctx)
	if err != nil {
		p.Log.Info("the metadata service does not describe the machine", "error", err)
		return
	}
	known := p.machine.Facts.Instance
	said.Hostname = "" // the plan was made with that of the contract's source, or with none
	if known != nil {
		said.Hostname = known.Hostname
	}
	p.machine.Facts.Instance = &said
	_ = p.guarded(func() error { p.recordFacts(); return nil })
}

// addressPatience is how long a machine may take to get an address, whose network comes up while the agent
// is at work already. For as long as its network is being started, behind cloud-init where there is one, it may take
// longer: the kubelet waits for that too, and one that is started without its address is planned again by the next boot.
const addressPatience = 30 * time.Second

// address waits until a node that is told its own address has one, for no longer than the contract gives a provisioning:
// a network may never have been started.
func (p *provision) address(ctx context.Context) {
	if p.opts.Facts != nil || !plan.NeedsAddress(p.config, p.machine.Facts) {
		return
	}
	begin := p.Now()
	defer func() { p.step(outcome.StepAddress, begin) }()
	ctx, cancel := context.WithTimeout(ctx, p.config.Checks.Timeout.Std())
	defer cancel()
	for {
		if p.addressed(ctx) {
			return
		}
		// systemd starts the kubelet after that target: nothing is gained by giving up before. On a machine that boots
		// slowly the network comes up behind cloud-init, after a minute and more.
		network, err := p.Host.UnitState(ctx, networkOnline)
		if err != nil || !network.Starting || ctx.Err() != nil {
			break
		}
	}
	p.Log.Warn("the machine has no address for the node yet; the kubelet chooses one", "waited", p.Now().Sub(begin).Round(time.Second).String())
}

// networkOnline is reached when the network is up, or the wait for it has failed (systemd.special(7)).
const networkOnline = "network-online.target"

// addressed waits for an address that the node can register, and reports whether there is one.
func (p *provision) addressed(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	for p.Host.WaitForAddress(ctx, p.machine.Facts.NodeIPs) {
		instance := p.machine.Facts.Instance
		p.machine.Facts = facts.Gather(p.Host)
		p.machine.Facts.Instance = instance
		if !plan.NeedsAddress(p.config, p.machine.Facts) {
			return true
		}
	}
	return false
}

// addressTries is how often a node is planned again whose address was gone before it was provisioned.
const addressTries = 3

// settle plans the node again, with the same contract, as long as an address that it was planned with is gone once
// that is applied. The error is that of the plan before, or of another one.
func (p *provision) settle(err error, again func() error) error {
	for tries := 0; err == nil && p.strayed(); tries++ {
		if tries == addressTries {
			return fmt.Errorf("the machine's address changes again and again, last to %s: the node was planned with one that is gone", strings.Join(p.machine.Facts.NodeIPs, ", "))
		}
		p.given, p.preparing = &p.found, nil
		err = again()
	}
	return err
}

// strayed reports whether an address that the node was planned with is gone, and learns those that are there. An
// address that the machine has when it boots may be an old lease, or one that its network's settings take away.
func (p *provision) strayed() bool {
	if p.opts.Facts != nil || p.opts.DryRun || p.isScript() {
		return false
	}
	now := facts.NodeIPs(p.Host)
	gone := slices.DeleteFunc(slices.Clone(p.machine.Facts.NodeIPs), func(ip string) bool { return slices.Contains(now, ip) })
	if len(gone) == 0 {
		return false
	}
	p.Log.Warn("an address that the node was planned with is gone; it is planned again", "gone", gone, "now", now)
	instance := p.machine.Facts.Instance
	p.machine.Facts = facts.Gather(p.Host)
	p.machine.Facts.Instance = instance
	return true
}
