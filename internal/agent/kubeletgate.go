package agent

import (
	"context"
	"errors"
	"reflect"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// gate holds back the kubelet that systemd starts at boot: that kubelet is ordered after the agent's unit. The gate
// opens when the network has what that kubelet reads of it, by the record of the node's last plan. A new node has no
// such record, and the engine starts its kubelet. If the contract requires an image, the gate opens after the image was compared.
type gate struct {
	// give stops the wait.
	give context.CancelFunc
	// known is closed when the awaited state is known; opened is closed when the gate is open.
	known, opened chan struct{}
	awaited       *resource.Network
}

// holdKubelet closes the gate, and calls open when the gate opens. If open is nil, there is no gate.
func holdKubelet(ctx context.Context, r *run, open func()) *gate {
	ctx, give := context.WithCancel(ctx)
	g := &gate{give: give, known: make(chan struct{}), opened: make(chan struct{})}
	// If the disk is another machine's, or is prepared for an unknown machine, there is no kubelet to hold back.
	if open == nil || r.account.Status.Identity != "" {
		close(g.known)
		close(g.opened)
		if open != nil {
			open()
		}
		return g
	}
	go func() {
		defer close(g.opened)
		defer open()
		_ = r.guarded(func() error {
			p, _ := r.currentPlan() // a later reader of the plan reports the error
			check := networkCheck(p)
			if check != nil {
				g.awaited = check.Network
			}
			close(g.known)
			holdOnChange(r, p)
			if check == nil {
				return nil
			}
			if err := r.host.Probe(ctx, check); err != nil && ctx.Err() == nil {
				r.log.Warn("the kubelet is started without what it reads of the network", "error", err)
			}
			return nil
		})
	}()
	return g
}

// planned opens the gate if a plan wants another network than was recorded: then what is waited for may never come, and the
// kubelet is started again in any event.
func (g *gate) planned(p resource.Plan) {
	if g == nil {
		return
	}
	<-g.known
	var wanted *resource.Network
	if check := networkCheck(p); check != nil {
		wanted = check.Network
	}
	if !reflect.DeepEqual(wanted, g.awaited) {
		g.give()
	}
}

// leave opens the gate at the end of the run, because no later step opens it.
func (g *gate) leave() {
	if g == nil {
		return // the disk's machine is not known
	}
	g.give()
	<-g.opened
}

// holdOnChange compares the image with the node's last plan, if that requires an image. If it has changed, systemd's kubelet does not
// start. The engine repeats the comparison, which reads no file again, and reports it.
func holdOnChange(r *run, p resource.Plan) {
	for _, res := range p.Resources {
		check, ok := res.Spec.(*resource.Check)
		if !ok || check.Manifest == nil && check.Digest == nil {
			continue
		}
		if err := r.host.Probe(context.Background(), check); err != nil && !errors.Is(err, apply.ErrNotProbed) {
			r.log.Error("the image has changed: its kubelet is not started", "check", check.Label, "error", err)
			if err := apply.Hold(context.Background(), r.host, check.Holds); err != nil {
				r.log.Error("cannot hold back the kubelet of the changed image", "error", err)
			}
			return
		}
	}
}

// networkCheck returns a plan's network check, or nil.
func networkCheck(p resource.Plan) *resource.Check {
	for _, res := range p.Resources {
		if check, ok := res.Spec.(*resource.Check); ok && check.Network != nil {
			return check
		}
	}
	return nil
}
