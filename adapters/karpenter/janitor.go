package karpenter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/awslabs/operatorpkg/reconciler"
	"github.com/awslabs/operatorpkg/singleton"
	"github.com/awslabs/operatorpkg/status"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodeclaimutils "sigs.k8s.io/karpenter/pkg/utils/nodeclaim"

	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// cleanEvery is the interval of the janitor.
	cleanEvery = time.Minute
	// orphanAfter is the minimum age at which a machine without a claim is stopped.
	orphanAfter = 5 * time.Minute
)

// janitor removes tokens whose node has joined or whose claim is gone, and machines without a claim. A machine has no claim if the
// program ended between the machine's start and the claim's update, and the claim was then deleted: the core does not know such a
// machine.
type janitor struct{ provider *Provider }

// Register adds the janitor to a manager.
func (j *janitor) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named("slipway.janitor").
		WatchesRawSource(singleton.Source()).
		Complete(singleton.AsReconciler(j))
}

// Reconcile cleans once. One failure does not stop the rest.
func (j *janitor) Reconcile(ctx context.Context) (reconciler.Result, error) {
	if err := errors.Join(j.cleanTokens(ctx), j.stopOrphans(ctx)); err != nil {
		return reconciler.Result{}, err
	}
	return reconciler.Result{RequeueAfter: cleanEvery}, nil
}

// cleanTokens removes the tokens of pools and claims that wait for no node.
func (j *janitor) cleanTokens(ctx context.Context) error {
	p := j.provider
	if p.inputs.Load().Settings.JoinMethod == string(nodeconfig.JoinAttested) {
		return nil // the cluster has no tokens, and the program may lack the right to list them
	}
	var failed error
	// The claims are listed after the tokens, so each token is either older than its claim's end, or its claim is in the list.
	waiting := sync.OnceValue(func() map[string]bool {
		keys := make(map[string]bool)
		claims, err := nodeclaimutils.ListManaged(ctx, p.client, p)
		if err != nil {
			failed = fmt.Errorf("the claims: %w", err)
			return nil
		}
		for _, claim := range claims {
			initialized := claim.StatusConditions(status.WithObservedOnly()).IsTrue(v1.ConditionTypeInitialized)
			if claim.DeletionTimestamp == nil && !initialized {
				keys[p.tokenKey(claim)] = true
			}
		}
		return keys
	})
	live := func(key string) bool {
		keys := waiting()
		return keys == nil || keys[key] // a token of an unknown owner stays
	}
	now, _ := p.server.now(ctx)
	return errors.Join(p.keeper.Clean(ctx, live, now), failed)
}

// stopOrphans stops the machines whose claim is gone.
func (j *janitor) stopOrphans(ctx context.Context) error {
	p := j.provider
	machines, err := p.machines.List(ctx) // before the claims, so that each machine's claim is in the list
	if err != nil {
		return fmt.Errorf("the machines: %w", err)
	}
	claims, err := nodeclaimutils.ListManaged(ctx, p.client, p)
	if err != nil {
		return fmt.Errorf("the claims: %w", err)
	}
	names := make(map[string]bool, len(claims))
	for _, claim := range claims {
		names[claim.Name] = true
	}
	var failed []error
	for i := range machines {
		m := &machines[i]
		if names[m.Name] || m.Stopping || p.clock.Since(m.Created) < orphanAfter {
			continue
		}
		log.FromContext(ctx).Info("stopping a machine without a claim", "machine", m.ID, "claim", m.Name)
		if err := p.machines.Stop(ctx, m.ID); err != nil && !errors.Is(err, ErrNotFound) {
			failed = append(failed, fmt.Errorf("the machine %s: %w", m.ID, err))
		}
	}
	return errors.Join(failed...)
}
