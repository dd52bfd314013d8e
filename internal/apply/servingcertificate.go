package apply

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

func compareServingCertificate(r *run, ctx context.Context, n *node) (Action, error) {
	lacks, _, err := r.lacksServing(ctx, n.Spec.(*resource.ServingCertificate))
	if !lacks || err != nil {
		return "", err
	}
	return Created, nil
}

// lacksServing reports whether the kubelet's next start would find no pair, or only half of one, as after a power cut.
// A kubelet refuses half a pair (client-go: util/cert, CanReadCertAndKey), so that is repaired in any state of the
// kubelet. Without a pair, a running or starting kubelet makes it. If systemd does not answer, the result is true.
func (r *run) lacksServing(ctx context.Context, c *resource.ServingCertificate) (lacks, half bool, err error) {
	certificate, err := r.written(c.Certificate)
	if err != nil {
		return false, false, err
	}
	key, err := r.written(c.Key)
	if err != nil || certificate && key {
		return false, false, err
	}
	if certificate || key {
		return true, true, nil
	}
	lacks, err = r.startsLater(ctx, c, c.Unit)
	return lacks, false, err
}

// bringServingCertificate defers the pair to the moment before the kubelet starts: until then the host may get another
// name. Half a pair is repaired at once: the kubelet may be waiting for the agent only.
func bringServingCertificate(r *run, ctx context.Context, n *node, _ Action) error {
	write := func() error {
		return r.step(string(n.ID()), func() error { return r.writeServing(n) })
	}
	switch _, half, err := r.lacksServing(ctx, n.Spec.(*resource.ServingCertificate)); {
	case err != nil:
		return err
	case half:
		return write()
	}
	n.last = write
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
