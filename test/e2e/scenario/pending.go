package scenario

import (
	"cmp"
	"context"

	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// pendingArgs describe a pod that fits on no node.
type pendingArgs struct {
	Name     string            `yaml:"name"`
	Selector map[string]string `yaml:"selector"`
	// CPU is its CPU request; default 100m.
	CPU string `yaml:"cpu"`
}

// pending creates a pod that waits for a node.
func (r *caseRun) pending(ctx context.Context, args pendingArgs) error {
	if err := r.serviceAccount(ctx); err != nil {
		return err
	}
	tolerations := []any{map[string]any{"key": "dedicated", "operator": "Exists"}}
	return r.Lab.API.Create(ctx, collectionOfPods, podOf(args.Name, args.Selector, tolerations, map[string]any{
		"image": parts.Pause, "imagePullPolicy": "Never",
		"resources": map[string]any{"requests": map[string]any{"cpu": cmp.Or(args.CPU, "100m"), "memory": "64Mi"}},
	}))
}

// runs waits until a pod runs.
func (r *caseRun) runs(ctx context.Context, args pendingArgs) error {
	_, _, err := r.runningPod(ctx, args.Name)
	return err
}

// deletePod removes a pod.
func (r *caseRun) deletePod(ctx context.Context, args pendingArgs) error {
	return r.Lab.API.Delete(ctx, collectionOfPods+"/"+args.Name)
}
