package karpenter_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestPoolThatIsGone: a node whose pool is gone stays as it is: the claim has all properties of its node, and the core deletes it.
// A difference in the class still counts.
func TestPoolThatIsGone(t *testing.T) {
	f := newFixture(t, nil)
	f.running("general-abcde")
	pool := new(v1.NodePool)
	if err := f.client.Get(f.ctx, client.ObjectKey{Name: "general"}, pool); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Delete(f.ctx, pool); err != nil {
		t.Fatal(err)
	}
	if reason, err := f.provider.IsDrifted(f.ctx, f.claim("general-abcde")); err != nil || reason != "" {
		t.Errorf("it has drifted: %s, %v", reason, err)
	}
	f.change("imageFamily: Ubuntu2204")
	if reason, err := f.provider.IsDrifted(f.ctx, f.claim("general-abcde")); err != nil || reason == "" {
		t.Errorf("another image is no drift: %v", err)
	}
}
