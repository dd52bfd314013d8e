package transition

import (
	"context"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
)

// healthy performs the checks of a plan after a change to it, and reports whether the node was asked and is well.
func (t *attempt) healthy(ctx context.Context, checks []resource.Resource) (asked bool, err error) {
	report, err := t.Run(ctx, resource.Plan{Resources: checks})
	t.applied(report)
	return err == nil && len(checks) > 0 && len(report.Skipped) == 0, err
}

// healthyAgain is healthy after a rollback, a repair or a boot. The plan was good before. So it is no evidence against the plan if
// the API server is unreachable, if its certificate or the node's client certificate is refused, or if the node has not
// joined yet: the server may be down, the certificate may have expired, and no other plan would be better.
func (t *attempt) healthyAgain(ctx context.Context, checks []resource.Resource) (asked bool, err error) {
	asked, err = t.healthy(ctx, checks)
	if err == nil || slices.ContainsFunc(outcome.Split(err), func(err error) bool { return !unasked(err, checks) }) {
		return asked, err
	}
	t.Log.Warn("the API server cannot be asked whether the node is well", "error", err)
	return false, nil
}

// unaskedCauses are why an API server could not be asked.
var unaskedCauses = []resource.Cause{
	resource.CauseDNS, resource.CauseCloudDNS, resource.CauseConnection, resource.CauseTLS, resource.CauseCredential, resource.CauseMissing,
}

// unasked reports whether an error means that the API server could not be asked for the Node's lease.
func unasked(err error, checks []resource.Resource) bool {
	var of *apply.Error
	var failed *apply.CheckError
	if !errors.As(err, &of) || !errors.As(err, &failed) {
		return false
	}
	lease := slices.ContainsFunc(checks, func(r resource.Resource) bool {
		check, ok := r.Spec.(*resource.Check)
		return ok && check.LeaseRenewed != nil && r.ID() == of.Resource
	})
	return lease && slices.Contains(unaskedCauses, failed.Cause)
}
