package karpenter

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The kinds of Karpenter's objects.
const (
	claimKind = "NodeClaim"
	poolKind  = "NodePool"
)

// claimOf is a claim as package launch has it, with all that is wrong.
func claimOf(claim *v1.NodeClaim) (*launch.NodeClaim, []nodeconfig.Problem) {
	copied := claim.DeepCopy()
	copied.TypeMeta = metav1.TypeMeta{APIVersion: launch.KarpenterVersion, Kind: claimKind}
	withoutTimes(copied.Spec.Taints, copied.Spec.StartupTaints)
	return decoded[launch.NodeClaim](copied, claimKind)
}

// poolOf is a pool as package launch has it, with all that is wrong.
func poolOf(pool *v1.NodePool) (*launch.NodePool, []nodeconfig.Problem) {
	copied := pool.DeepCopy()
	copied.TypeMeta = metav1.TypeMeta{APIVersion: launch.KarpenterVersion, Kind: poolKind}
	withoutTimes(copied.Spec.Template.Spec.Taints, copied.Spec.Template.Spec.StartupTaints)
	return decoded[launch.NodePool](copied, poolKind)
}

// withoutTimes takes the time off taints: it is when a taint was added to a Node, and a kubelet registers none.
func withoutTimes(lists ...[]corev1.Taint) {
	for _, taints := range lists {
		for i := range taints {
			taints[i].TimeAdded = nil
		}
	}
}

// decoded reads an object of Karpenter's by its JSON, with launch's own decoder: a field that launch does not know is a problem.
func decoded[T any](object any, kind string) (*T, []nodeconfig.Problem) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, []nodeconfig.Problem{{Kind: nodeconfig.Invalid, Path: "$", Reason: err.Error(), Fatal: true, Document: kind}}
	}
	read := new(T)
	problems := launch.Read(data, launch.KarpenterVersion, kind, read)
	for i := range problems {
		problems[i].Document = kind
	}
	return read, problems
}

// requestOf asks for a claim's node, with more labels: those of the offering that was chosen.
func requestOf(claim *launch.NodeClaim, pool *launch.NodePool, labels map[string]string) launch.Request {
	copied := *claim
	copied.Metadata.Labels = make(map[string]string, len(claim.Metadata.Labels)+len(labels))
	maps.Copy(copied.Metadata.Labels, claim.Metadata.Labels)
	maps.Copy(copied.Metadata.Labels, labels)
	return launch.Request{Pool: pool, Claim: &copied}
}
