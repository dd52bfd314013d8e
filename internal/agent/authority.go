package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// authorize adds the cluster's CA to the machine's facts, if the contract does not have it: that of an earlier generation, also if no
// server is reachable now, or else the one that the cluster shows. Without it, nothing is applied.
func (c *contract) authorize(ctx context.Context, r *run, machine *identity.Machine) error {
	if !lacks(c.Config, machine.Facts, plan.NeedClusterAuthority) {
		return nil
	}
	begin := r.now()
	defer func() { r.step(outcome.StepClusterAuthority, begin) }()
	if machine.Facts.ClusterAuthority = keptAuthority(r, c.Config); machine.Facts.ClusterAuthority != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(c.Config.Checks.APIServerTimeout, c.Config.Checks.Timeout).Std())
	defer cancel()
	server := &resource.APIServer{Server: c.Config.Cluster.Server, Token: resource.Hidden{Secret: c.Config.Join.DiscoveryToken}}
	if server.Token.IsZero() {
		server.Token = resource.Hidden{Secret: c.Config.Join.BootstrapToken}
	}
	fetched, err := r.host.FetchAuthority(ctx, server, c.Config.Cluster.AcceptsAuthority)
	if errors.Is(err, apply.ErrNotProbed) {
		return c.refused(r, append(slices.Clone(c.Problems), c.Place(nodeconfig.Problem{
			Kind: nodeconfig.Missing, Path: "$.cluster.certificateAuthority", Fatal: true,
			Reason: "no API server is asked for the cluster's CA here; give the CA itself in cluster.certificateAuthority of a native contract",
		})))
	}
	if err != nil {
		failed := &apply.Error{Resource: resource.IDOf(&resource.Check{Label: "cluster-authority"}), ExitCode: exitcode.APIServerUnreachable, Err: err}
		if check, ok := errors.AsType[*apply.CheckError](err); ok && check.Cause == resource.CauseDNS {
			failed.ExitCode = exitcode.APIServerNameUnresolved
		}
		return failed
	}
	machine.Facts.ClusterAuthority = fetched
	r.log.Info("fetched the cluster's CA, which the contract does not have", "server", c.Config.Cluster.Server)
	return nil
}

// keptAuthority returns the CA that the contract accepts from the newest generation that has it, or "". Without hashes the contract
// accepts any CA, so that generation must be of the same server.
func keptAuthority(r *run, config *nodeconfig.NodeConfig) string {
	store, err := generation.Open(r.host, r.log)
	if err != nil {
		return "" // the next reader of the generations reports the error
	}
	id := resource.IDOf(&resource.File{Path: concern.AuthorityPath(config)})
	for _, e := range slices.Backward(store.Entries()) {
		made, err := store.Plan(e.Number)
		if err != nil {
			continue
		}
		kept, known := "", len(config.Cluster.CertificateAuthorityHashes) > 0
		for _, of := range made.Resources {
			switch spec := of.Spec.(type) {
			case *resource.File:
				if of.ID() == id && config.Cluster.AcceptsAuthority(string(spec.Content)) {
					kept = string(spec.Content)
				}
			case *resource.Check:
				known = known || spec.APIServer != nil && spec.APIServer.Server == config.Cluster.Server
			}
		}
		if known && kept != "" {
			return kept
		}
	}
	return ""
}
