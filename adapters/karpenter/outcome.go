package karpenter

import (
	"context"
	"errors"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/launch/report"
)

// ConditionTypeProvisioned is a claim's condition with the machine's own report of its provisioning. Its reason is a
// [report.Reason]. Karpenter's own conditions do not change with it.
const ConditionTypeProvisioned = "Provisioned"

// OutcomeUnreadable is the condition's reason if the machine's report has no result.
const OutcomeUnreadable = "OutcomeUnreadable"

// lookEvery is the interval at which a machine's report is read while one is expected.
const lookEvery = 15 * time.Second

// lookFor is how long a report is expected, from the claim's creation: some machines report nothing.
const lookFor = 2 * bootstraptoken.DefaultDeadline

// observe copies the machine's report to the claim's condition. It reports whether another report is expected.
func (p *Provider) observe(ctx context.Context, claim *v1.NodeClaim) (more bool, err error) {
	known := claim.StatusConditions(status.WithObservedOnly()).Get(ConditionTypeProvisioned)
	if known.IsTrue() {
		return false, nil
	}
	machine, err := p.machines.Get(ctx, claim.Status.ProviderID)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil // the core notices this itself
	case err != nil:
		return true, err
	case len(machine.Report) == 0:
		return p.clock.Since(claim.CreationTimestamp.Time) < lookFor, nil
	}
	condition := conditionOf(machine.Report)
	changed := claim.DeepCopy()
	if !changed.StatusConditions(status.WithClock(p.clock)).Set(condition) {
		return condition.Status != "True", nil
	}
	// With optimistic locking, because the patch replaces the whole list of conditions.
	if err := p.client.Status().Patch(ctx, changed, client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{})); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	p.tell(claim, condition)
	return condition.Status != "True", nil
}

// tell records an event for a condition that has a message.
func (p *Provider) tell(about client.Object, c status.Condition) {
	kind := corev1.EventTypeWarning
	if c.Status == "True" {
		kind = corev1.EventTypeNormal
	}
	if c.Message != "" {
		p.event(about, kind, c.Reason, c.Message)
	}
}

// conditionOf converts a report to a condition.
func conditionOf(data []byte) status.Condition {
	outcome, err := report.Read(data)
	if err != nil {
		return status.Condition{Type: ConditionTypeProvisioned, Status: "Unknown", Reason: OutcomeUnreadable, Message: short(err.Error())}
	}
	c := status.Condition{Type: ConditionTypeProvisioned, Status: "True", Reason: string(outcome.Reason), Message: outcome.Message}
	if outcome.Succeeded() {
		return c
	}
	c.Status = "False"
	if outcome.Action != "" {
		c.Message += "; " + outcome.Action
	}
	if !outcome.Retry {
		c.Message += "; another machine of the same launch would fail as well"
	}
	c.Message = short(c.Message)
	return c
}

// RegistrationHook delays a Node's registration while its machine reports a failure: the Node gets no pods until then. A missing
// report does not delay the Node, whether the machine or the cloud gives none.
func (p *Provider) RegistrationHook() cloudprovider.NodeLifecycleHook { return hook{p} }

type hook struct{ provider *Provider }

// Name is the hook's name.
func (hook) Name() string { return "slipway.provisioned" }

// Registered asks for another call while the machine reports a failure.
func (h hook) Registered(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.NodeLifecycleHookResult, error) {
	machine, err := h.provider.machines.Get(ctx, claim.Status.ProviderID)
	if err != nil {
		log.FromContext(ctx).Error(err, "the machine's report cannot be read; its node is registered", "machine", claim.Status.ProviderID)
		return cloudprovider.NodeLifecycleHookResult{}, nil
	}
	if outcome, err := report.Read(machine.Report); err == nil && !outcome.Succeeded() {
		return cloudprovider.NodeLifecycleHookResult{RequeueAfter: lookEvery}, nil
	}
	return cloudprovider.NodeLifecycleHookResult{}, nil
}
