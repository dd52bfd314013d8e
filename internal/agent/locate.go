package agent

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// lookup is where to look for a contract.
type lookup struct {
	// given is the contract, where it has been read already.
	given *source.Contract
	// path is the contract's path. Empty means the known places.
	path string
	// only is the single place to look if there is no path, by its name in package source. Empty means all places.
	only string
	// script is the path of a script that is not run, because there is a contract. It may be empty.
	script string
	// wait is how long to look for a contract that is not there yet. 0 means look once.
	wait time.Duration
}

// located is a contract that was found.
type located struct {
	source.Contract
	// warnings are those about the image's contract, if it was applied first.
	warnings []nodeconfig.Problem
}

// locate finds the contract. If it is not there yet, the work that needs no contract runs meanwhile.
func locate(ctx context.Context, r *run, machine identity.Machine, where lookup) (located, error) {
	if where.script != "" {
		r.log.Warn("there is a script and a contract: applying the contract, not running the script", "script", where.script)
	}
	begin := r.now()
	if where.given == nil && !r.dryRun {
		prefetch(r, machine.Facts)
	}
	contract, base, err := find(ctx, r, machine, where)
	r.step(outcome.StepFind, begin)
	found := located{Contract: contract}
	if base != nil {
		begin = r.now()
		found.warnings = collect(r, base)
		r.step(outcome.StepBase, begin)
	}
	restrict(r, source.Paths...)
	r.account.Status.Config.Path, r.target.Contract = contract.Path, contract.Path
	if err != nil {
		return found, outcome.NotFoundError{Cause: err}
	}
	return found, nil
}

// find reads the contract that is named, or looks for one. What is done meanwhile ends on the channel, which is nil where
// there was no time for it.
func find(ctx context.Context, r *run, machine identity.Machine, where lookup) (found source.Contract, base <-chan prepared, err error) {
	if where.given != nil {
		return *where.given, nil, nil
	}
	if where.path != "" {
		found, err = source.File(named(r), where.path)
		return found, nil, err
	}
	places := search(r, machine.Facts)
	places.Only, places.Wait = where.only, where.wait > 0
	if machine.Foreign != nil {
		places.Other, places.OtherSum = true, machine.Foreign.Sum
	}
	if where.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, where.wait)
		defer cancel()
		places.Still = func() {
			var tried []string
			for _, a := range places.Tried() {
				tried = append(tried, a.Source+": "+a.Result)
			}
			r.log.Info("still waiting", state.WaitingKey, state.AwaitedContract+" ("+strings.Join(tried, "; ")+")")
		}
		if !r.dryRun {
			places.Waiting = func() { base = prepare(ctx, r, machine.Facts) }
		}
	}
	found, err = places.Find(ctx)
	for _, a := range places.Tried() {
		r.account.Status.Sources = append(r.account.Status.Sources, status.Source{
			Name: a.Source, Found: a.Found, Result: a.Result,
			StartMs: a.Start.Sub(r.account.Status.StartedAt).Milliseconds(), DurationMs: a.Duration.Milliseconds(),
		})
	}
	return found, base, err
}

// search looks for the contract in all places of this machine.
func search(r *run, known facts.Facts) *source.Search {
	s := &source.Search{Machine: r.host, Facts: known, Now: r.now}
	if cloud := r.agent.Cloud; cloud != nil {
		s.Service, s.Fetch = cloud.Service(known.Platform), cloud.Fetch
	}
	return s
}

// named returns the files that a given path belongs to.
func named(r *run) Named {
	if named := r.agent.Named; named != nil && any(named) != any(r.agent.Host) {
		return named
	}
	return r.host
}

// restrict makes contracts readable for the superuser only: other programs have delivered them, some readable for all,
// and they hold the node's join credentials.
func restrict(r *run, paths ...string) {
	if r.dryRun {
		return
	}
	for _, path := range paths {
		had, err := r.host.Restrict(path)
		switch {
		case had && err == nil:
			r.log.Warn("the contract was readable for others; now only root can read it", "path", path)
		case had:
			r.log.Warn("the contract is readable for others, and its mode cannot be changed", "path", path, "error", err)
		}
	}
}

// prefetch reads into memory what every plan needs: the kubelet, if only one version can be meant.
func prefetch(r *run, known facts.Facts) {
	if r.given != nil {
		return // the facts may be another machine's
	}
	var paths []string
	for _, c := range known.Components {
		entry, err := r.host.Stat(c.Path)
		if err != nil || entry.Kind != apply.RegularFile && entry.Kind != apply.Symlink {
			r.log.Warn("a component of the image's manifest is missing", "component", c.Name, "version", c.Version, "path", c.Path)
			continue
		}
		if c.Name == "kubelet" {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) != 1 {
		return
	}
	if err := r.host.Prefetch(paths[0]); err != nil {
		r.log.Debug("the kubelet cannot be read ahead", "path", paths[0], "error", err)
	}
}
