package karpenter

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/awslabs/operatorpkg/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodeclaimutils "sigs.k8s.io/karpenter/pkg/utils/nodeclaim"
)

// Controllers returns the provider's own controllers, which run beside Karpenter's. They copy the machines' reports to the claims,
// continue changes in place, set the classes' conditions, remove tokens and machines without a use, and refresh the inputs.
func (p *Provider) Controllers() []controller.Controller {
	all := []controller.Controller{&claimController{p}, &classController{p}, &janitor{p}}
	if p.refresh != nil {
		all = append(all, &inputsController{p, p.refresh})
	}
	return all
}

// claimsAtOnce is how many claims are looked at at the same time: most of that is waiting for the cloud.
const claimsAtOnce = 10

// claimController follows the machine of each claim.
type claimController struct{ provider *Provider }

// Register adds the controller to a manager. If a class changes, its claims are reconciled.
func (c *claimController) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named("slipway.nodeclaim").
		For(&v1.NodeClaim{}, builder.WithPredicates(nodeclaimutils.IsManagedPredicateFuncs(c.provider))).
		Watches(&NodeClass{}, nodeclaimutils.NodeClassEventHandler(m.GetClient())).
		WithOptions(runtimecontroller.Options{MaxConcurrentReconciles: claimsAtOnce}).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// Reconcile checks a claim's machine, and asks to be called again as long as a report is expected.
func (c *claimController) Reconcile(ctx context.Context, claim *v1.NodeClaim) (reconcile.Result, error) {
	launched := claim.StatusConditions(status.WithObservedOnly()).IsTrue(v1.ConditionTypeLaunched)
	if claim.DeletionTimestamp != nil || !launched || claim.Status.ProviderID == "" {
		return reconcile.Result{}, nil
	}
	more, err := c.provider.observe(ctx, claim)
	if apierrors.IsConflict(err) {
		more, err = true, nil // the claim has changed meanwhile
	}
	found, driftErr := c.provider.drift(ctx, claim)
	if err := errors.Join(err, driftErr); err != nil {
		return reconcile.Result{}, err
	}
	if more || found.changing {
		return reconcile.Result{RequeueAfter: lookEvery}, nil
	}
	return reconcile.Result{}, nil
}
