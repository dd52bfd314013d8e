package karpenter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/nodepoolhealth"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestMain(m *testing.M) {
	karpenter.Register(scheme.Scheme)
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// noon is the program's time when a test begins.
var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// examples are the main module's.
const examples = "../../examples/launch"

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// inputs are those of the examples; more settings, in YAML, go before the example's.
func inputs(t testing.TB, settings string) karpenter.Inputs {
	t.Helper()
	var in karpenter.Inputs
	var problems, found []nodeconfig.Problem
	in.Settings, problems = azure.Reload(nil,
		azure.SettingsSource{Name: "settings.yaml", Document: read(t, "settings.yaml")}, azure.SettingsSource{Name: "more", Document: []byte("cluster-name: example\n" + settings)})
	in.Detected, found = azure.ReadDetected(read(t, "detected.yaml"))
	problems = append(problems, found...)
	in.Images, found = azure.ReadImages(read(t, "images.yaml"))
	if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	var err error
	if in.Types, err = azure.ReadInstanceTypes(read(t, "skus.json"), "eastus"); err != nil {
		t.Fatal(err)
	}
	return in
}

// manifest is the example's, without some components.
func manifest(t testing.TB, without ...string) *components.Manifest {
	t.Helper()
	m, err := components.Parse(read(t, "components.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Components = slices.DeleteFunc(m.Components, func(c components.Component) bool { return slices.Contains(without, c.Name+" "+c.Version) })
	return &m
}

// object reads an object of the examples with something laid over it.
func object[T any](t testing.TB, name, over string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.Unmarshal(read(t, name), into); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(over), into); err != nil {
		t.Fatal(err)
	}
	return into
}

// classOf is the example's class, with a spec laid over its own, Ready.
func classOf(t testing.TB, spec string) *karpenter.NodeClass {
	t.Helper()
	c := object[karpenter.NodeClass](t, "nodeclass.yaml", "")
	c.UID = "class"
	setSpec(t, c, spec)
	c.StatusConditions().SetTrue(status.ConditionReady)
	return c
}

// setSpec lays fields over a class's spec; null takes one away.
func setSpec(t testing.TB, c *karpenter.NodeClass, spec string) {
	t.Helper()
	fields := make(map[string]any)
	if err := json.Unmarshal(c.Spec.Raw, &fields); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.Spec.Raw, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
}

// claimOf is the example's claim with another name.
func claimOf(t testing.TB, name, over string) *v1.NodeClaim {
	t.Helper()
	c := object[v1.NodeClaim](t, "nodeclaim.yaml", over)
	c.Name, c.UID, c.CreationTimestamp = name, apitypes.UID("uid-"+name), metav1.NewTime(noon)
	return c
}

// recorder keeps the events.
type recorder struct {
	mu     sync.Mutex
	events []events.Event
}

func (r *recorder) Publish(all ...events.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, all...)
}

// said reports whether an event has a reason and a text in its message.
func (r *recorder) said(reason, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e events.Event) bool { return e.Reason == reason && strings.Contains(e.Message, text) })
}

// fixture is a cluster with a provider.
type fixture struct {
	t        testing.TB
	clock    *clocktesting.FakeClock
	cloud    *cloud
	recorder *recorder
	client   client.WithWatch
	funcs    interceptor.Funcs
	options  karpenter.Options
	provider *karpenter.Provider
	ctx      context.Context
	logged   bytes.Buffer
	errors   []error
	// secrets are values that must not appear anywhere, beside those of the cluster's tokens.
	secrets []string
}

// newFixture makes one with objects. The example's class and pool are among them, unless there are others of their kind.
func newFixture(t testing.TB, set func(*fixture), objects ...client.Object) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: clocktesting.NewFakeClock(noon), recorder: new(recorder)}
	f.cloud = &cloud{clock: f.clock}
	f.options = karpenter.Options{Machines: f.cloud, Recorder: f.recorder, Clock: f.clock, Inputs: inputs(t, "")}
	if set != nil {
		set(f)
	}
	if !slices.ContainsFunc(objects, func(o client.Object) bool { _, is := o.(*karpenter.NodeClass); return is }) {
		objects = append(objects, classOf(t, ""))
	}
	if !slices.ContainsFunc(objects, func(o client.Object) bool { _, is := o.(*v1.NodePool); return is }) {
		pool := object[v1.NodePool](t, "nodepool.yaml", "")
		pool.UID = "pool"
		objects = append(objects, pool)
	}
	f.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{}, &karpenter.NodeClass{}).
		WithIndex(&corev1.Secret{}, "type", func(o client.Object) []string { return []string{string(o.(*corev1.Secret).Type)} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.group", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Group} }).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.kind", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Kind} }).
		WithIndex(&v1.NodeClaim{}, "spec.nodeClassRef.name", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Spec.NodeClassRef.Name} }).
		WithInterceptorFuncs(f.funcs).Build()
	f.options.Client, f.options.Reader = f.client, f.client
	f.restart()
	f.ctx = options.ToContext(log.IntoContext(t.Context(), funcr.New(func(prefix, args string) {
		f.recorder.mu.Lock()
		defer f.recorder.mu.Unlock()
		fmt.Fprintln(&f.logged, prefix, args)
	}, funcr.Options{Verbosity: 10})), &options.Options{})
	t.Cleanup(f.secret)
	return f
}

// restart makes the provider again, as a restarted program does.
func (f *fixture) restart() {
	f.t.Helper()
	var err error
	if f.provider, err = karpenter.New(f.options); err != nil {
		f.t.Fatal(err)
	}
}

// secret checks that no error, event, log line, condition or annotation contains a secret.
func (f *fixture) secret() {
	secrets := slices.Concat(f.secrets, f.cloud.userData())
	for _, token := range f.tokens() {
		secrets = append(secrets, string(token.Data["token-secret"]))
	}
	var all bytes.Buffer
	all.Write(f.logged.Bytes())
	for _, e := range f.recorder.events {
		fmt.Fprintln(&all, e.Reason, e.Message, e.DedupeValues)
	}
	for _, err := range f.errors {
		fmt.Fprintf(&all, "%v %+v\n", err, err)
	}
	for _, l := range append(f.cloud.started, f.cloud.updated...) {
		fmt.Fprintf(&all, "%v %+v %#v\n", l, l, l.UserData)
	}
	var claims v1.NodeClaimList
	if err := f.client.List(context.Background(), &claims); err != nil && f.funcs.List == nil {
		f.t.Fatal(err)
	}
	if err := json.NewEncoder(&all).Encode(claims); err != nil {
		f.t.Fatal(err)
	}
	for _, s := range secrets {
		if strings.Contains(all.String(), s) {
			f.t.Errorf("the secret %q is shown", s)
		}
	}
}

// tokens are the cluster's tokens.
func (f *fixture) tokens() []corev1.Secret {
	var list corev1.SecretList
	if err := f.client.List(context.Background(), &list, client.InNamespace("kube-system")); err != nil {
		return nil // this case tests that tokens cannot be listed
	}
	return list.Items
}

// claim returns a claim of the cluster, or nil if the cluster does not have it.
func (f *fixture) claim(name string) *v1.NodeClaim {
	f.t.Helper()
	c := new(v1.NodeClaim)
	if err := f.client.Get(f.ctx, client.ObjectKey{Name: name}, c); client.IgnoreNotFound(err) != nil {
		f.t.Fatal(err)
	} else if err != nil || c.DeletionTimestamp != nil {
		return nil
	}
	return c
}

// controller is Karpenter's own for claims.
func (f *fixture) controller(hooks ...cloudprovider.NodeLifecycleHook) *lifecycle.Controller {
	cluster := state.NewCluster(f.clock, f.client, f.provider)
	return lifecycle.NewController(f.clock, f.client, f.provider, f.recorder, cluster, nodepoolhealth.NewState(), hooks)
}

// lifecycle has Karpenter's own controller look at a claim: it launches it, and registers its node.
func (f *fixture) lifecycle(name string) *v1.NodeClaim {
	f.t.Helper()
	claim := f.claim(name)
	if _, err := f.controller().Reconcile(f.ctx, claim); err != nil {
		f.errors = append(f.errors, err)
	}
	return f.claim(name)
}

// add makes a claim in the cluster.
func (f *fixture) add(name string) {
	f.t.Helper()
	claim := claimOf(f.t, name, "")
	claim.CreationTimestamp = metav1.NewTime(f.clock.Now())
	if err := f.client.Create(f.ctx, claim); err != nil {
		f.t.Fatal(err)
	}
}

// running makes a claim in the cluster, and its machine, and its Node, all by Karpenter's own controller.
func (f *fixture) running(name string) *v1.NodeClaim {
	f.t.Helper()
	f.add(name)
	claim := f.lifecycle(name)
	if claim == nil || claim.Status.ProviderID == "" {
		f.t.Fatalf("the claim %s is not launched: %v", name, f.errors)
	}
	f.join(name)
	claim = f.lifecycle(name)
	if !claim.StatusConditions().IsTrue(v1.ConditionTypeRegistered) {
		f.t.Fatalf("the claim %s is not registered: %v", name, claim.Status.Conditions)
	}
	return claim
}

// join has the Node of a claim appear, as its kubelet registers it.
func (f *fixture) join(name string) {
	f.t.Helper()
	template := f.cloud.started[slices.IndexFunc(f.cloud.started, func(l karpenter.Launch) bool { return l.Name == name })].Launch
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: template.Document().Node.Kubelet.Labels}, Spec: corev1.NodeSpec{ProviderID: "test://" + name}}
	for _, taint := range template.Document().Node.Kubelet.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	if err := f.client.Create(f.ctx, node); err != nil {
		f.t.Fatal(err)
	}
}

// drifted has Karpenter's own controller check a claim for drift, and returns the reason of its condition.
func (f *fixture) drifted(name string) string {
	f.t.Helper()
	controller := disruption.NewController(f.clock, f.client, f.provider)
	for tries := 0; ; tries++ {
		result, err := controller.Reconcile(f.ctx, f.claim(name))
		if err != nil {
			f.errors = append(f.errors, err)
			return "error: " + err.Error()
		}
		if result.RequeueAfter > 0 || result.IsZero() {
			break // otherwise the claim has changed meanwhile
		}
		if tries == 3 {
			f.t.Fatal("the claim changes at every reconcile")
		}
	}
	if c := f.claim(name).StatusConditions().Get(v1.ConditionTypeDrifted); c != nil {
		return c.Reason
	}
	return ""
}

// change lays a spec over the class in the cluster.
func (f *fixture) change(spec string) {
	f.t.Helper()
	c := new(karpenter.NodeClass)
	if err := f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, c); err != nil {
		f.t.Fatal(err)
	}
	setSpec(f.t, c, spec)
	c.Generation++
	if err := f.client.Update(f.ctx, c); err != nil {
		f.t.Fatal(err)
	}
	c.StatusConditions().SetTrue(status.ConditionReady)
	if err := f.client.Status().Update(f.ctx, c); err != nil {
		f.t.Fatal(err)
	}
}
