package karpenter

import (
	"context"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// NodeClassRefused is the reason of a class from which no node can be made.
const NodeClassRefused = "NodeClassRefused"

// classEvery is how often a class is looked at: the provider's inputs change without an event.
const classEvery = time.Minute

// classController says which classes are ready: those from which a node can be made on some instance type.
type classController struct{ provider *Provider }

// Register adds the controller to a manager.
func (c *classController) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named("slipway.nodeclass").
		For(&NodeClass{}).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// Reconcile sets a class's condition Ready, with all problems. A class that is ready has the warnings in the message.
func (c *classController) Reconcile(ctx context.Context, object *NodeClass) (reconcile.Result, error) {
	if object.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	used, err := c.provider.classOf(object)
	if err != nil {
		return reconcile.Result{}, err
	}
	ready, problems, err := used.judge()
	if err != nil {
		return reconcile.Result{}, err
	}
	condition := status.Condition{Type: status.ConditionReady, Status: "True", Reason: status.ConditionReady}
	if !ready {
		condition.Status, condition.Reason = "False", NodeClassRefused
	}
	if len(problems) > 0 {
		condition.Message = short(problemsError(problems).Error())
	}
	changed := object.DeepCopy()
	if changed.StatusConditions(status.WithClock(c.provider.clock)).Set(condition) {
		// With the lock, because the whole list of conditions is replaced.
		err := c.provider.client.Status().Patch(ctx, changed, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: classEvery}, nil
}

// judge reports whether there is an instance type on which nodes of the class are possible. The problems are the class's own and
// those that nodes on every instance type have: the fatal ones where it is not, and else the warnings.
func (c *class) judge() (ready bool, problems []nodeconfig.Problem, err error) {
	if fatal := nodeconfig.Fatal(c.problems); len(fatal) > 0 {
		return false, fatal, nil
	}
	sizes, err := c.measure()
	if err != nil {
		return false, nil, err
	}
	if len(sizes) == 0 {
		none := nodeconfig.Problem{Kind: nodeconfig.Missing, Path: "$.machine.type", Reason: "no instance types are known", Fatal: true}
		return false, []nodeconfig.Problem{none}, nil
	}
	count := make(map[nodeconfig.Problem]int)
	for _, s := range sizes {
		ready = ready || len(nodeconfig.Fatal(s.problems)) == 0
		for _, p := range s.problems {
			count[p]++
		}
	}
	for _, p := range slices.Concat(c.problems, sizes[0].problems) {
		if p.Fatal != ready && (count[p] == len(sizes) || count[p] == 0) {
			problems = append(problems, p)
		}
	}
	if !ready && len(problems) == 0 { // each instance type has its own
		problems = nodeconfig.Fatal(sizes[0].problems)
	}
	return ready, problems, nil
}
