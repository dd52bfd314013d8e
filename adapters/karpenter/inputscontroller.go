package karpenter

import (
	"cmp"
	"context"
	"fmt"

	"github.com/awslabs/operatorpkg/reconciler"
	"github.com/awslabs/operatorpkg/singleton"
	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// inputsController reads the provider's sources again: at intervals, and when the settings' ConfigMap changes.
type inputsController struct {
	provider *Provider
	refresh  *Refresh
}

// Register adds the controller to a manager. It watches this ConfigMap only, so the program needs no right to others.
func (c *inputsController) Register(_ context.Context, m manager.Manager) error {
	built := controllerruntime.NewControllerManagedBy(m).Named("slipway.inputs").WatchesRawSource(singleton.Source())
	if name := c.refresh.ConfigMap; name.Name != "" {
		one, err := cache.New(m.GetConfig(), cache.Options{
			HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(),
			DefaultNamespaces: map[string]cache.Config{name.Namespace: {}}, DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", name.Name),
		})
		if err != nil {
			return fmt.Errorf("watch the ConfigMap %s: %w", name, err)
		}
		if err := m.Add(one); err != nil {
			return err
		}
		again := func(context.Context, *corev1.ConfigMap) []reconcile.Request { return []reconcile.Request{{}} }
		built = built.WatchesRawSource(source.Kind(one, &corev1.ConfigMap{}, handler.TypedEnqueueRequestsFromMapFunc(again)))
	}
	return built.Complete(singleton.AsReconciler(c))
}

// Reconcile reads the sources once. The result is shown in the classes' conditions. If the ConfigMap was refused, an event about it
// says so.
func (c *inputsController) Reconcile(ctx context.Context) (reconciler.Result, error) {
	p := c.provider
	old := p.inputs.Load()
	found := c.refresh.again(ctx, p.tokens.reader, *old)
	if len(found.changed) > 0 {
		if !p.inputs.CompareAndSwap(old, &found.inputs) {
			return reconciler.Result{RequeueAfter: singleton.RequeueImmediately}, nil // the program has set other inputs meanwhile
		}
		log.FromContext(ctx).Info("using new inputs", "changed", found.changed)
	}
	if found.configMap != nil && found.refused != nil {
		p.event(found.configMap, corev1.EventTypeWarning, SettingsRefused, found.refused.Error())
	}
	if found.configMap != nil && len(found.ignored) > 0 {
		p.event(found.configMap, corev1.EventTypeWarning, "SettingsIgnored", problemsError(found.ignored).Error())
	}
	p.show(found.condition())
	return reconciler.Result{RequeueAfter: cmp.Or(c.refresh.Every, DefaultRefreshEvery)}, nil
}

// show sets the condition that all classes show. "Nothing has changed" does not replace the message that names the last change.
func (p *Provider) show(c status.Condition) {
	if old := p.shown.Load(); old != nil && old.Status == c.Status && (c.Message == "" || c.Message == old.Message) {
		return
	}
	p.shown.Store(&c)
	select {
	case p.refreshes <- event.GenericEvent{Object: new(NodeClass)}:
	default: // a reconcile of the classes is already queued
	}
}

// allClasses requests a reconcile of every class.
func (p *Provider) allClasses(ctx context.Context, _ client.Object) []reconcile.Request {
	var list NodeClassList
	if err := p.client.List(ctx, &list); err != nil {
		log.FromContext(ctx).Error(err, "the classes cannot be listed; each is looked at in its turn")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i] = reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}}
	}
	return requests
}
