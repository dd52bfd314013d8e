package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// question is the request for the cluster's settings for all its kubelets, which runs beside everything else. The agent
// first plans the node without the answer. When the kubelet starts, the plan has the answer, or the agent plans again.
type question struct {
	// ready is closed when something waits for the answer.
	ready chan struct{}
	wait  sync.Once
	// answered is closed when answer is there.
	answered chan struct{}
	answer   facts.KubeletDefaults
	// used reports whether a plan has the answer.
	used bool
}

// askDefaults starts the request, if the node takes the cluster's settings and no earlier run has an answer.
func (c *contract) askDefaults(ctx context.Context, r *run, machine *identity.Machine) {
	c.adoptUpgrade(r, machine)
	if r.question != nil || r.dryRun || !lacks(c.Config, machine.Facts, plan.NeedKubeletDefaults) {
		return
	}
	known := machine.Facts
	if r.given == nil {
		if known.KubeletDefaults = identity.KubeletDefaults(r.host); !lacks(c.Config, known, plan.NeedKubeletDefaults) {
			machine.Facts = known
			return
		}
		known.KubeletDefaults = nil
	}
	config := concern.WithFetchedAuthority(c.Config, known)
	q := &question{ready: make(chan struct{}), answered: make(chan struct{})}
	r.question = q
	go func() {
		defer close(q.answered)
		err := r.guarded(func() error {
			text, err := r.host.FetchKubeletDefaults(ctx, concern.DefaultsQuestion(config), q.ready)
			if err == nil {
				q.answer, err = kubelet.ReadDefaults(config, text)
			}
			return err
		})
		if errors.Is(err, apply.ErrNotProbed) {
			err = errors.New("no server is asked here")
		}
		if err != nil {
			q.answer = kubelet.NoDefaults(config, err)
		}
	}()
}

// adoptUpgrade takes the kubelet's configuration that kubeadm has written by an upgrade of the node for what the cluster sets.
func (c *contract) adoptUpgrade(r *run, machine *identity.Machine) {
	if r.given != nil || !c.Config.Cluster.Kubeadm {
		return
	}
	current, err := r.currentPlan()
	if err != nil {
		return // the next reader of the generations reports the error
	}
	text := transition.Upgraded(r.host, current)
	if text == nil {
		return
	}
	answer, err := kubelet.ReadDefaults(concern.WithFetchedAuthority(c.Config, machine.Facts), text)
	if err != nil {
		r.log.Warn("kubeadm has upgraded the node, and what it wrote cannot be used", "path", kubelet.KubeadmKubeletConfig, "error", err)
		return
	}
	r.log.Info("kubeadm has upgraded the node; its configuration of the kubelet is the new base", "path", kubelet.KubeadmKubeletConfig)
	machine.Facts.KubeletDefaults = &answer
	if r.dryRun {
		return
	}
	if err := state.KubeletDefaults.WriteJSON(r.host, answer); err != nil {
		r.log.Warn("cannot record what the cluster sets for its kubelets", "error", err)
	}
}

// annotationPatience is how long a kubelet may take to register its Node; the next boot tries again.
const annotationPatience = time.Minute

// annotate gives the Node the annotations that kubeadm wants, once nothing waits for the agent.
func (c *contract) annotate(ctx context.Context, r *run, machine identity.Machine) {
	node, annotations := kubelet.Annotations(c.Config, machine.Facts)
	if node == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), annotationPatience)
	defer cancel()
	err := r.guarded(func() error { return r.host.AnnotateNode(ctx, node, annotations) })
	if err != nil && !errors.Is(err, apply.ErrNotProbed) {
		r.log.Warn("the Node does not have the annotation that kubeadm upgrade node needs; the next boot tries again", "error", err)
	}
}

// hurry reports to the request that something waits for the answer, or that the run needs no answer any more.
func (q *question) hurry() {
	if q != nil {
		q.wait.Do(func() { close(q.ready) })
	}
}

// await waits for the answer and adds it to the facts. The kubelet's start may wait for it.
func (q *question) await(r *run, machine *identity.Machine) {
	q.hurry()
	<-q.answered
	q.used = true
	machine.Facts.KubeletDefaults = &q.answer
	if q.answer.Unanswered != "" {
		r.log.Warn("the cluster does not say what it sets for its kubelets; the node is made without", "reason", q.answer.Unanswered)
		return
	}
	if r.given != nil {
		return
	}
	if err := state.KubeletDefaults.WriteJSON(r.host, q.answer); err != nil {
		r.log.Warn("cannot record what the cluster sets for its kubelets; the next boot asks again", "error", err)
	}
	recordFacts(r, machine.Facts)
}

// withDefaults is the plan with the cluster's answer, for a run that is at work already.
func (c *contract) withDefaults(r *run, machine *identity.Machine, planned resource.Plan) resource.Plan {
	if r.question.used {
		return planned
	}
	r.question.await(r, machine)
	desired, problems := c.planned(r, machine.Facts)
	if len(nodeconfig.Fatal(problems)) > 0 {
		return planned // no answer can cause this plan's error
	}
	_ = c.refused(r, problems)
	return desired
}

// unused reports whether there is an answer that no plan has yet: the kubelet was running already.
func (q *question) unused(r *run, machine *identity.Machine) bool {
	if q == nil || q.used || machine == nil {
		return false
	}
	q.await(r, machine)
	return true
}
