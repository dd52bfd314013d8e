package karpenter_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// TestRepair: the core accepts the policies, and replaces a Node with one of these conditions: after ten minutes without a kubelet,
// and at once if the cloud's agents report that the machine is unhealthy or will be taken away.
func TestRepair(t *testing.T) {
	f := newFixture(t, nil)
	ctx := options.ToContext(f.ctx, &options.Options{FeatureGates: options.FeatureGates{NodeRepair: true}})
	matcher, err := health.NewRepairPolicyMatcher(ctx, f.provider)
	if err != nil {
		t.Fatal("the core refuses the policies:", err)
	}
	for name, c := range map[string]struct {
		kind   corev1.NodeConditionType
		status corev1.ConditionStatus
		reason string
		none   bool
		after  time.Duration
		drain  time.Duration
	}{
		"a kubelet that is not ready":         {kind: corev1.NodeReady, status: corev1.ConditionFalse, reason: "KubeletNotReady", after: 10 * time.Minute},
		"a kubelet that says nothing":         {kind: corev1.NodeReady, status: corev1.ConditionUnknown, reason: "NodeStatusUnknown", after: 10 * time.Minute},
		"a condition without a reason":        {kind: corev1.NodeReady, status: corev1.ConditionUnknown, after: 10 * time.Minute},
		"a kubelet that is ready":             {kind: corev1.NodeReady, status: corev1.ConditionTrue, reason: "KubeletReady", none: true},
		"a machine that is not well":          {kind: "kubernetes.azure.com/NodeHealthy", status: corev1.ConditionFalse, reason: "DiskFailure"},
		"a machine that is well":              {kind: "kubernetes.azure.com/NodeHealthy", status: corev1.ConditionTrue, none: true},
		"a machine of which nothing is known": {kind: "kubernetes.azure.com/NodeHealthy", status: corev1.ConditionUnknown, none: true},
		"a spot machine that is taken away":   {kind: "PreemptionScheduled", status: corev1.ConditionTrue, reason: "Preempt", drain: 30 * time.Second},
		"a spot machine that stays":           {kind: "PreemptionScheduled", status: corev1.ConditionFalse, none: true},
		"a condition of others":               {kind: "DiskPressure", status: corev1.ConditionTrue, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: c.kind, Status: c.status, Reason: c.reason, LastTransitionTime: metav1.NewTime(noon)},
			}}}
			found := matcher.Match(node)
			early := health.Resolve(found, noon.Add(c.after-time.Second), noon)
			got := health.Resolve(found, noon.Add(c.after), noon)
			switch {
			case c.none && len(found) != 0:
				t.Errorf("%+v", got)
			case c.none:
			case early.Action != "":
				t.Error("a second early it is replaced")
			case got.Action != cloudprovider.ReplaceNode, got.TerminationGracePeriod == nil || *got.TerminationGracePeriod != c.drain:
				t.Errorf("%+v", got)
			}
		})
	}
}
