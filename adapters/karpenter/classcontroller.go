package karpenter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodeclaimutils "sigs.k8s.io/karpenter/pkg/utils/nodeclaim"

	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// NodeClassRefused is the reason of a class from which no node can be made.
const NodeClassRefused = "NodeClassRefused"

// classEvery is how often a class is looked at: the provider's inputs change without an event.
const classEvery = time.Minute

// heldEvery is how often a class is looked at that waits for its claims.
const heldEvery = 10 * time.Minute

// classController sets each class's condition Ready. A class is ready if a node can be made from it on some instance type.
type classController struct{ provider *Provider }

// Register adds the controller to a manager.
func (c *classController) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named("slipway.nodeclass").
		For(&NodeClass{}).
		WatchesRawSource(source.Channel(c.provider.refreshes, handler.EnqueueRequestsFromMapFunc(c.provider.allClasses))).
		Watches(&v1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(classOfClaim), builder.WithPredicates(onlyDeletions)).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// onlyDeletions are the events of claims that are gone: the last one sets its class free.
var onlyDeletions = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(event.UpdateEvent) bool { return false },
}

// classOfClaim asks for a claim's class to be looked at.
func classOfClaim(_ context.Context, o client.Object) []reconcile.Request {
	ref := o.(*v1.NodeClaim).Spec.NodeClassRef
	if ref == nil || ref.GroupKind() != groupVersion.WithKind(azure.ClassKind).GroupKind() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: ref.Name}}}
}

// Reconcile sets a class's conditions: Ready, with all problems, and that of the inputs. The message of a ready class has the
// warnings. Before a class becomes ready, it gets the finalizer that keeps it while claims use it.
func (c *classController) Reconcile(ctx context.Context, object *NodeClass) (reconcile.Result, error) {
	if object.DeletionTimestamp != nil {
		return c.release(ctx, object)
	}
	if held := object.DeepCopy(); controllerutil.AddFinalizer(held, finalizer) {
		if err := c.provider.client.Patch(ctx, held, locked(object)); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		object = held
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
	conditions := changed.StatusConditions(status.WithClock(c.provider.clock))
	differs := conditions.Set(condition)
	if shown := c.provider.shown.Load(); shown != nil && conditions.Set(*shown) {
		differs = true
		c.provider.tell(object, *shown)
	}
	if differs {
		err := c.provider.client.Status().Patch(ctx, changed, locked(object))
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: classEvery}, nil
}

// finalizer keeps a class while claims use it. It is the one of Karpenter's provider for Azure (Karpenter for Azure v1.7:
// TerminationFinalizer).
const finalizer = "karpenter.azure.com/termination"

// release removes the finalizer from a class that is being deleted, once no claim uses it. A claim's deletion triggers another
// reconcile of the class. From time to time an event names the claims that the deletion waits for.
func (c *classController) release(ctx context.Context, object *NodeClass) (reconcile.Result, error) {
	free := object.DeepCopy()
	if !controllerutil.RemoveFinalizer(free, finalizer) {
		return reconcile.Result{}, nil
	}
	p := c.provider
	claims, err := nodeclaimutils.ListManaged(ctx, p.client, p, nodeclaimutils.ForNodeClass(object))
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("the claims of the %s %s: %w", azure.ClassKind, object.Name, err)
	}
	if len(claims) == 0 {
		return reconcile.Result{}, client.IgnoreNotFound(p.client.Patch(ctx, free, locked(object)))
	}
	names := make([]string, len(claims))
	for i, claim := range claims {
		names[i] = claim.Name
	}
	slices.Sort(names)
	p.event(object, corev1.EventTypeNormal, "WaitingForNodeClaims", "it is deleted when these NodeClaims are gone: "+strings.Join(names, ", "))
	return reconcile.Result{RequeueAfter: heldEvery}, nil
}

// locked is a change of an object in the version that was read: a list of conditions or finalizers is replaced as a whole.
func locked(object client.Object) client.Patch {
	return client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
}

// judge reports whether nodes of the class are possible on some instance type. The problems are the class's own and those that
// occur on every instance type: the fatal ones if no node is possible, else the warnings.
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
