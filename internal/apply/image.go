package apply

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareImage asks the runtime. The image's requirements have started it.
func compareImage(r *run, ctx context.Context, n *node) (Action, error) {
	has, err := r.Host.HasImage(ctx, n.Spec.(*resource.Image))
	if has || err != nil {
		return "", err
	}
	return Pulled, nil
}

func bringImage(r *run, ctx context.Context, n *node, action Action) error {
	return r.step(string(n.ID()), func() error {
		err := r.Host.PullImage(ctx, n.Spec.(*resource.Image))
		switch {
		case errors.Is(err, ErrNotProbed):
			r.skipped(n.ID())
			return nil
		case err == nil:
			r.changed(n.ID(), action)
		}
		return err
	})
}
