package karpenter

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// repairs are the conditions for which a Node is replaced (Karpenter for Azure v1.7: RepairPolicies). The kubelet writes the first,
// and agents of AKS write the others. drain limits the time for draining: a kubelet that is not Ready evicts nothing, and a spot
// machine is gone after its notice (Azure: scheduled events, Preempt). A higher priority is repaired first.
var repairs = []struct {
	condition    corev1.NodeConditionType
	status       corev1.ConditionStatus
	after, drain time.Duration
	priority     int
}{
	{condition: corev1.NodeReady, status: corev1.ConditionFalse, after: 10 * time.Minute},
	{condition: corev1.NodeReady, status: corev1.ConditionUnknown, after: 10 * time.Minute},
	{condition: "kubernetes.azure.com/NodeHealthy", status: corev1.ConditionFalse, priority: 1},
	{condition: "PreemptionScheduled", status: corev1.ConditionTrue, drain: 30 * time.Second, priority: 2},
}

// RepairPolicies returns the policies for replacing unhealthy Nodes. The core requires one policy without a reason, which counts if
// no other has the Node's reason; all others are for any reason.
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy {
	policies := make([]cloudprovider.RepairPolicy, len(repairs))
	for i, r := range repairs {
		policies[i] = cloudprovider.RepairPolicy{
			ConditionType: r.condition, ConditionStatus: r.status, ReasonRegex: ".*", TolerationDuration: r.after,
			TerminationGracePeriod: &r.drain, Priority: r.priority, Action: cloudprovider.ReplaceNode,
		}
	}
	policies[0].ReasonRegex = ""
	return policies
}
