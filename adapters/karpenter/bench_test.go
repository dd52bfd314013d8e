package karpenter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"

	"github.com/slipway-dev/slipway/adapters/karpenter"
)

// cached reads as an operator's cache does: each read is another copy.
type cached struct {
	client.Client
	class *karpenter.NodeClass
	pool  *v1.NodePool
}

func (c *cached) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	switch into := into.(type) {
	case *karpenter.NodeClass:
		*into = *c.class.DeepCopyObject().(*karpenter.NodeClass)
	case *v1.NodePool:
		c.pool.DeepCopyInto(into)
	default:
		return c.Client.Get(ctx, key, into, opts...)
	}
	return nil
}

// launchedClaims are claims with machines, each of another team.
func launchedClaims(b *testing.B, f *fixture, teams int) []*v1.NodeClaim {
	b.Helper()
	all := make([]*v1.NodeClaim, teams)
	for n := range all {
		claim := claimOf(b, fmt.Sprintf("sample-%d", n), "")
		claim.Labels["team"] = fmt.Sprint(n)
		if err := f.client.Create(f.ctx, claim); err != nil {
			b.Fatal(err)
		}
		if all[n] = f.lifecycle(claim.Name); all[n] == nil || all[n].Annotations[karpenter.AnnotationRecord] == "" {
			b.Fatal(f.errors)
		}
	}
	return all
}

// BenchmarkRound looks at 100,000 claims of 20 kinds by a provider that has just begun, as Karpenter's controller does in a round: one in a
// hundred differs, or all do.
func BenchmarkRound(b *testing.B) {
	const claims, kinds = 100_000, 20
	for _, every := range []int{100, 1} {
		b.Run(fmt.Sprintf("one in %d differs", every), func(b *testing.B) {
			f := newFixture(b, nil)
			same, other := launchedClaims(b, f, kinds), launchedClaims(b, newFixture(b, nil, classOf(b, "osDiskSizeGB: 64")), kinds)
			reader := &cached{Client: f.client, class: new(karpenter.NodeClass), pool: new(v1.NodePool)}
			if err := errors.Join(f.client.Get(f.ctx, client.ObjectKey{Name: "default"}, reader.class), f.client.Get(f.ctx, client.ObjectKey{Name: "general"}, reader.pool)); err != nil {
				b.Fatal(err)
			}
			f.options.Client, f.options.Recorder = reader, unheard{}
			all := make([]*v1.NodeClaim, claims)
			for n := range all {
				all[n] = same[n/every%kinds].DeepCopy()
				if n%every == 0 {
					all[n].Annotations = other[n/every%kinds].Annotations
				}
				all[n].Name, all[n].UID = fmt.Sprintf("claim-%d", n), types.UID(fmt.Sprintf("claim-%d", n))
			}
			b.ReportAllocs()
			for b.Loop() {
				f.restart()
				found := 0
				for _, claim := range all {
					reason, err := f.provider.IsDrifted(f.ctx, claim)
					if err != nil {
						b.Fatal(err)
					}
					if reason != "" {
						found++
					}
				}
				if found != claims/every {
					b.Fatal(found)
				}
			}
		})
	}
}

// unheard drops events.
type unheard struct{}

func (unheard) Publish(...events.Event) {}
