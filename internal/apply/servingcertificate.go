package apply

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

func compareServingCertificate(r *run, ctx context.Context, n *node) (Action, error) {
	lacks, err := r.lacksServing(ctx, n.Spec.(*resource.ServingCertificate))
	if !lacks || err != nil {
		return "", err
	}
	return Created, nil
}

// lacksServing reports whether the kubelet's next start would find no pair, or half of one, which it refuses (client-go:
// util/cert, CanReadCertAndKey). A kubelet that runs has one, wherever that is. Where systemd does not answer, it may be so.
func (r *run) lacksServing(ctx context.Context, c *resource.ServingCertificate) (bool, error) {
	for _, path := range []string{c.Certificate, c.Key} {
		if there, err := r.written(path); err != nil {
			return false, err
		} else if there {
			continue
		}
		kubelet, err := r.Host.UnitState(ctx, c.Unit)
		return err != nil || !kubelet.Running() && !kubelet.Starting, err
	}
	return false, nil
}

// bringServingCertificate leaves the pair for the moment before the kubelet starts: until then the host may get another name.
func bringServingCertificate(r *run, _ context.Context, n *node, _ Action) error {
	n.last = func() error {
		return r.step(string(n.ID()), func() error { return r.writeServing(n) })
	}
	return nil
}

func (r *run) writeServing(n *node) error {
	c := n.Spec.(*resource.ServingCertificate)
	certificate, key, err := r.Host.SelfSign(c)
	if err != nil {
		if !errors.Is(err, ErrNotProbed) {
			r.Log.Info("no serving certificate yet; the kubelet makes it", "error", err)
		}
		r.skipped(n.ID())
		return nil
	}
	err = r.writeOwn(
		&resource.File{Path: c.Key, Mode: 0o600, Content: key, Secret: true},
		&resource.File{Path: c.Certificate, Mode: 0o644, Content: certificate},
	)
	if err == nil {
		r.changed(n.ID(), Created)
	}
	return err
}
