package karpenter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/slipway-dev/slipway/adapters/karpenter"
)

// finalizer is the one that Karpenter's provider for Azure sets on a class.
const finalizer = "karpenter.azure.com/termination"

// gone reports whether the cluster no longer has the class.
func (f *fixture) gone() bool {
	err := f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, new(karpenter.NodeClass))
	return apierrors.IsNotFound(err)
}

// TestClassIsHeld: a class stays until its last claim is gone, and an event names the claims that it waits for. Until then, no
// claim launches with it, and its nodes do not drift.
func TestClassIsHeld(t *testing.T) {
	f := newFixture(t, nil)
	f.judge()
	if c := f.class(); !slices.Contains(c.Finalizers, finalizer) {
		t.Fatalf("the class has the finalizers %q", c.Finalizers)
	}
	if version := f.class().ResourceVersion; f.judge().ResourceVersion != version {
		t.Error("the same is written twice")
	}
	f.running("general-abcde")
	if err := f.client.Delete(f.ctx, f.class()); err != nil {
		t.Fatal(err)
	}
	if result := f.reconcileClass(); f.gone() || result.RequeueAfter == 0 {
		t.Errorf("gone: %t, it is looked at again in %s", f.gone(), result.RequeueAfter)
	}
	if !f.recorder.said("WaitingForNodeClaims", "general-abcde") {
		t.Error("no event names the claims that the class waits for")
	}
	if _, err := f.provider.Create(f.ctx, claimOf(t, "general-fghij", "")); !cloudprovider.IsNodeClassNotReadyError(err) || !strings.Contains(err.Error(), "is being deleted") {
		t.Error(err)
	}
	if reason := f.drifted("general-abcde"); reason != "" {
		t.Errorf("the node has drifted: %s", reason)
	}
	claim := f.claim("general-abcde")
	claim.Finalizers = nil
	if err := f.client.Update(f.ctx, claim); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Delete(f.ctx, claim); err != nil {
		t.Fatal(err)
	}
	if f.reconcileClass(); !f.gone() {
		t.Errorf("the class is not gone: %v", f.class())
	}
}

// TestClassIsHeldByItsOwnClaims: claims of other classes do not hold a class, and a class without claims is released. A class whose
// claims cannot be listed stays. Finalizers of other programs stay.
func TestClassIsHeldByItsOwnClaims(t *testing.T) {
	class := classOf(t, "")
	class.Finalizers = []string{finalizer, "example.com/other"}
	other := claimOf(t, "other-abcde", "spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: other}}")
	f := newFixture(t, nil, class, other)
	if err := f.client.Delete(f.ctx, f.class()); err != nil {
		t.Fatal(err)
	}
	f.reconcileClass()
	if c := f.class(); !slices.Equal(c.Finalizers, []string{"example.com/other"}) {
		t.Errorf("the class has the finalizers %q", c.Finalizers)
	}

	f = newFixture(t, func(f *fixture) { f.funcs.List = blindTo })
	f.judge()
	if err := f.client.Delete(f.ctx, f.class()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.tryReconcileClass(); err == nil || f.gone() {
		t.Errorf("gone: %t, %v", f.gone(), err)
	}
}

// TestFinalizerBeforeReady: a class gets the finalizer before it is ready, so no claim can be launched with a class that is not
// held.
func TestFinalizerBeforeReady(t *testing.T) {
	class := classOf(t, "")
	class.Status.Conditions = nil
	f := newFixture(t, func(f *fixture) {
		f.funcs.Patch = refusePatch
	}, class)
	if _, err := f.tryReconcileClass(); err == nil || f.class().StatusConditions().Root().IsTrue() {
		t.Errorf("%v, %v", err, f.class().Status.Conditions)
	}
}

// refusePatch is a cluster that patches no object itself.
func refusePatch(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
	return errors.New("nothing is patched")
}
