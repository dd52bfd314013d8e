package agent

import (
	"context"
	"reflect"

	"github.com/slipway-dev/slipway/internal/resource"
)

// gate holds back the kubelet that systemd starts at a boot: it is ordered after the agent's unit. It is opened when the
// network is there as far as that kubelet reads it, which the record of the node's last plan says. A node that is new has
// no such record, and its kubelet is started by the engine.
type gate struct {
	// give stops the wait.
	give context.CancelFunc
	// known is closed when it is known what is waited for, opened when the gate is open.
	known, opened chan struct{}
	awaited       *resource.Network
}

// holdKubelet closes the gate, and calls open when it is opened. Without open there is none.
func holdKubelet(ctx context.Context, r *run, open func()) *gate {
	ctx, give := context.WithCancel(ctx)
	g := &gate{give: give, known: make(chan struct{}), opened: make(chan struct{})}
	// A disk of another machine, or one that is made for nobody yet, has no kubelet to hold back.
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
			check := recordedNetwork(r)
			if check != nil {
				g.awaited = check.Network
			}
			close(g.known)
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

// leave opens the gate: nobody will any more.
func (g *gate) leave() {
	if g == nil {
		return // it is not known whose disk this is
	}
	g.give()
	<-g.opened
}

// recordedNetwork is what the kubelet reads of the network by the node's last plan; nil for nothing.
func recordedNetwork(r *run) *resource.Check {
	p, err := r.currentPlan()
	if err != nil {
		return nil // whoever needs it reports it
	}
	return networkCheck(p)
}

// networkCheck is the check of the network in a plan; nil for none.
func networkCheck(p resource.Plan) *resource.Check {
	for _, res := range p.Resources {
		if check, ok := res.Spec.(*resource.Check); ok && check.Network != nil {
			return check
		}
	}
	return nil
}
