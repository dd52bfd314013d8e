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

// ConditionTypeProvisioned is a claim's condition: what the machine itself has said of its provisioning. Its reason is a
// [report.Reason]. It is beside Karpenter's own conditions, which it does not change.
const ConditionTypeProvisioned = "Provisioned"

// OutcomeUnreadable is the reason of the condition where the machine has reported something that does not say what came of it.
const OutcomeUnreadable = "OutcomeUnreadable"

// lookEvery is how often a machine is asked that has something to say.
const lookEvery = 15 * time.Second

// lookFor is how long a machine is asked for a report, from its claim's beginning: some report nothing.
const lookFor = 2 * bootstraptoken.DefaultDeadline

// observe writes what the machine has reported into the claim's condition. It reports whether there is more to come.
func (p *Provider) observe(ctx context.Context, claim *v1.NodeClaim) (more bool, err error) {
	known := claim.StatusConditions(status.WithObservedOnly()).Get(ConditionTypeProvisioned)
	if known.IsTrue() {
		return false, nil
	}
	machine, err := p.machines.Get(ctx, claim.Status.ProviderID)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil // the core finds out
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
	// With the lock, because the whole list of conditions is replaced.
	if err := p.client.Status().Patch(ctx, changed, client.MergeFromWithOptions(claim, client.MergeFromWithOptimisticLock{})); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	p.tell(claim, condition)
	return condition.Status != "True", nil
}

// tell has an event for what a condition says; none for one that says nothing.
func (p *Provider) tell(about client.Object, c status.Condition) {
	kind := corev1.EventTypeWarning
	if c.Status == "True" {
		kind = corev1.EventTypeNormal
	}
	if c.Message != "" {
		p.event(about, kind, c.Reason, c.Message)
	}
}

// conditionOf is what a report says, as a condition.
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

// RegistrationHook keeps a Node from being registered while its machine reports that it is not well: it gets no pods then. A machine
// that reports nothing, or that the cloud does not tell of, keeps nobody waiting.
func (p *Provider) RegistrationHook() cloudprovider.NodeLifecycleHook { return hook{p} }

type hook struct{ provider *Provider }

// Name is the hook's name.
func (hook) Name() string { return "slipway.provisioned" }

// Registered asks to be called again while the machine has failed.
func (h hook) Registered(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.NodeLifecycleHookResult, error) {
	machine, err := h.provider.machines.Get(ctx, claim.Status.ProviderID)
	if err != nil {
		log.FromContext(ctx).Error(err, "nobody knows what the machine has reported; its node is registered", "machine", claim.Status.ProviderID)
		return cloudprovider.NodeLifecycleHookResult{}, nil
	}
	if outcome, err := report.Read(machine.Report); err == nil && !outcome.Succeeded() {
		return cloudprovider.NodeLifecycleHookResult{RequeueAfter: lookEvery}, nil
	}
	return cloudprovider.NodeLifecycleHookResult{}, nil
}
