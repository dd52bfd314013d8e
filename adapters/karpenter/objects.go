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

// claimOf converts a claim for package launch, with all problems.
func claimOf(claim *v1.NodeClaim) (*launch.NodeClaim, []nodeconfig.Problem) {
	copied := claim.DeepCopy()
	copied.TypeMeta = metav1.TypeMeta{APIVersion: launch.KarpenterVersion, Kind: claimKind}
	withoutTimes(copied.Spec.Taints, copied.Spec.StartupTaints)
	return decoded[launch.NodeClaim](copied, claimKind)
}

// poolOf converts a pool for package launch, with all problems.
func poolOf(pool *v1.NodePool) (*launch.NodePool, []nodeconfig.Problem) {
	copied := pool.DeepCopy()
	copied.TypeMeta = metav1.TypeMeta{APIVersion: launch.KarpenterVersion, Kind: poolKind}
	withoutTimes(copied.Spec.Template.Spec.Taints, copied.Spec.Template.Spec.StartupTaints)
	return decoded[launch.NodePool](copied, poolKind)
}

// withoutTimes removes the time from taints: the API server sets it when a taint is added to a Node, and a kubelet registers none.
func withoutTimes(lists ...[]corev1.Taint) {
	for _, taints := range lists {
		for i := range taints {
			taints[i].TimeAdded = nil
		}
	}
}

// decoded converts an object of Karpenter by its JSON, with launch's own decoder: a field that launch does not know is a problem.
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

// requestOf is the request for a claim's node, with the labels of the chosen offering added.
func requestOf(claim *launch.NodeClaim, pool *launch.NodePool, labels map[string]string) launch.Request {
	copied := *claim
	copied.Metadata.Labels = make(map[string]string, len(claim.Metadata.Labels)+len(labels))
	maps.Copy(copied.Metadata.Labels, claim.Metadata.Labels)
	maps.Copy(copied.Metadata.Labels, labels)
	return launch.Request{Pool: pool, Claim: &copied}
}
