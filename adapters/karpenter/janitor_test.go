package karpenter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/singleton"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
)

// clean has the janitor clean once.
func (f *fixture) clean() error {
	f.t.Helper()
	result, err := f.provider.Controllers()[2].(singleton.Reconciler).Reconcile(f.ctx)
	if err == nil && result.RequeueAfter != time.Minute {
		f.t.Errorf("it cleans again in %s", result.RequeueAfter)
	}
	return err
}

// descriptions are those of the cluster's tokens, sorted.
func (f *fixture) descriptions() string {
	var all []string
	for _, token := range f.tokens() {
		all = append(all, string(token.Data["description"]))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestTokensAreRemoved: a token is removed when its node is initialized or its claim is gone; tokens of other programs stay.
func TestTokensAreRemoved(t *testing.T) {
	f := newFixture(t, func(f *fixture) { f.options.Tokens = bootstraptoken.Policy{PerNode: true} }, tokenSecret("2026-11-25T11:00:00Z"))
	for _, name := range []string{"general-a", "general-b", "general-c"} {
		f.running(name)
	}
	step := func(want string) {
		t.Helper()
		if err := f.clean(); err != nil {
			t.Fatal(err)
		}
		if got := f.descriptions(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	step(", Slipway, for NodeClaim general-a, Slipway, for NodeClaim general-b, Slipway, for NodeClaim general-c")
	claim := f.claim("general-a")
	claim.StatusConditions().SetTrue(v1.ConditionTypeInitialized)
	if err := f.client.Status().Update(f.ctx, claim); err != nil {
		t.Fatal(err)
	}
	step(", Slipway, for NodeClaim general-b, Slipway, for NodeClaim general-c")
	claim = f.claim("general-b")
	if err := f.client.Delete(f.ctx, claim); err != nil { // it waits for its finalizer
		t.Fatal(err)
	}
	step(", Slipway, for NodeClaim general-c")
	f.clock.Step(time.Hour)
	step("") // another program's expired token stays
	if len(f.tokens()) != 1 {
		t.Errorf("%d tokens", len(f.tokens()))
	}
}

// TestTokensOfPools: a pool's token stays as long as one of the pool's nodes has not joined.
func TestTokensOfPools(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-a")
	f.running("general-b")
	for i, name := range []string{"general-a", "general-b"} {
		claim := f.claim(name)
		claim.StatusConditions().SetTrue(v1.ConditionTypeInitialized)
		if err := f.client.Status().Update(f.ctx, claim); err != nil {
			t.Fatal(err)
		}
		if err := f.clean(); err != nil || len(f.tokens()) != 1-i {
			t.Errorf("%d: %d tokens, %v", i, len(f.tokens()), err)
		}
	}
}

// TestTokensAreNotListedUnderAttestation: if nodes join without a token, the janitor does not list tokens.
func TestTokensAreNotListedUnderAttestation(t *testing.T) {
	f := newFixture(t, func(f *fixture) { hideTokens(f); f.options.Inputs = inputs(f.t, "join-method: Attested") })
	if err := f.clean(); err != nil {
		t.Error(err)
	}
	f.setInputs(inputs(t, ""))
	if err := f.clean(); err == nil || !strings.Contains(err.Error(), "the controller may not") {
		t.Error(err)
	}
}

// TestOrphans: a machine without a claim is stopped, when it is old enough; one that has a claim is not.
func TestOrphans(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-a")
	f.cloud.machines[0].Created = noon.Add(-time.Hour)
	f.cloud.add("general-old", "", 5*time.Minute)
	f.cloud.add("general-young", "", 5*time.Minute-time.Second)
	f.cloud.add("general-ending", "", time.Hour)
	f.cloud.machines[3].Stopping = true
	if err := f.clean(); err != nil || fmt.Sprint(f.cloud.stopped) != "[test://general-old]" {
		t.Errorf("%v, %v", f.cloud.stopped, err)
	}
	f.clock.Step(time.Second)
	f.cloud.stopErr = errors.New("throttled")
	if err := f.clean(); err == nil || !strings.Contains(err.Error(), "test://general-young: throttled") {
		t.Error(err)
	}
	f.cloud.stopErr, f.cloud.listErr = nil, errors.New("away")
	if err := f.clean(); err == nil || !strings.Contains(err.Error(), "away") || len(f.cloud.stopped) != 1 {
		t.Errorf("%v, %v", f.cloud.stopped, err)
	}
}

// TestJanitorInTheDark: if the claims cannot be listed, nothing is removed.
func TestJanitorInTheDark(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-a")
	blind := newFixture(t, func(g *fixture) { g.funcs.List = blindTo }, tokenOfPool(f))
	blind.cloud.add("general-old", "", time.Hour)
	if err := blind.clean(); err == nil || len(blind.tokens()) != 1 || len(blind.cloud.stopped) != 0 {
		t.Errorf("%d tokens, %v, %v", len(blind.tokens()), blind.cloud.stopped, err)
	}
}

// blindTo claims is a cluster that does not list them.
func blindTo(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*v1.NodeClaimList); ok {
		return errors.New("no claims are listed")
	}
	return c.List(ctx, list, opts...)
}

// tokenOfPool is the token of a fixture, for another one.
func tokenOfPool(f *fixture) *corev1.Secret {
	token := f.tokens()[0]
	token.ResourceVersion = ""
	return &token
}

// TestMachinesOfTheCore: what Karpenter's core asks about machines.
func TestMachinesOfTheCore(t *testing.T) {
	f := newFixture(t, nil)
	claim := f.running("general-a")
	got, err := f.provider.Get(f.ctx, claim.Status.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "general-a" || got.Status.ProviderID != claim.Status.ProviderID || got.Status.ImageID != exampleImage || got.DeletionTimestamp != nil ||
		got.Labels[corev1.LabelInstanceTypeStable] != "Standard_D4ds_v5" || got.Labels[corev1.LabelTopologyZone] != "eastus-2" ||
		got.Labels[v1.CapacityTypeLabelKey] != "on-demand" || got.Annotations[karpenter.AnnotationKey] != claim.Annotations[karpenter.AnnotationKey] {
		t.Errorf("%+v", got)
	}
	f.cloud.keepAfterStopping = true
	if err := f.provider.Delete(f.ctx, claim); err != nil {
		t.Error(err)
	}
	if list, err := f.provider.List(f.ctx); err != nil || len(list) != 1 || list[0].DeletionTimestamp == nil {
		t.Errorf("%v, %v", list, err)
	}
	f.cloud.machines = nil
	if err := f.provider.Delete(f.ctx, claim); !cloudprovider.IsNodeClaimNotFoundError(err) {
		t.Error(err)
	}
	if _, err := f.provider.Get(f.ctx, "test://nobody"); !cloudprovider.IsNodeClaimNotFoundError(err) {
		t.Error(err)
	}
	f.cloud.getErr, f.cloud.listErr = errors.New("throttled"), errors.New("throttled")
	if _, err := f.provider.Get(f.ctx, "test://nobody"); err == nil || cloudprovider.IsNodeClaimNotFoundError(err) {
		t.Error(err)
	}
	if _, err := f.provider.List(f.ctx); err == nil {
		t.Error("no error")
	}
	if err := f.provider.Reboot(f.ctx, claim, "operation"); !cloudprovider.IsNodeRebootNotImplementedError(err) {
		t.Error(err)
	}
	if classes := f.provider.GetSupportedNodeClasses(); f.provider.Name() != "slipway" || len(classes) != 1 {
		t.Error(classes)
	}
}
