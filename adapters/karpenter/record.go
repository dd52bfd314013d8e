package karpenter

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/launch"
)

// The annotations of a claim. All of them together have less than 2 KB.
const (
	// AnnotationKey has the key of the template that the node was made from ([launch.Template.Key]).
	AnnotationKey = "slipway.dev/launch-key"
	// AnnotationRecord has its compact record ([launch.Template.Compact]).
	AnnotationRecord = "slipway.dev/launch-record"
	// AnnotationChange says which change in place is under way or has ended without success, in JSON.
	AnnotationChange = "slipway.dev/change"
)

// recordOf are the annotations that say what a node was made from.
func recordOf(t *launch.Template) map[string]string {
	return map[string]string{AnnotationKey: t.Key(), AnnotationRecord: t.Compact()}
}

// change is a change in place of one node.
type change struct {
	// Key is that of the template that the node changes to.
	Key string `json:"key"`
	// Since is when it began.
	Since time.Time `json:"since"`
	// Told says that the machine has got a contract that is not the one of the claim's record, in this change or in one before.
	Told bool `json:"told,omitempty"`
	// Ended says why the node cannot change in place; empty while it may.
	Ended string `json:"ended,omitempty"`
	// done says that the node has changed, and that the claim may not show it yet. It is kept in memory alone.
	done bool
}

// pending reports whether the change is under way.
func (c *change) pending() bool { return c.Key != "" && c.Ended == "" && !c.done }

// unsettled reports whether the machine may have another contract than that of the claim's record.
func (c *change) unsettled() bool { return c.Key != "" && !c.done && c.Told }

// changeOf is the change that a claim's annotation names. One that is damaged is none: the change is then begun again.
func changeOf(claim *v1.NodeClaim) (c change) {
	if json.Unmarshal([]byte(claim.Annotations[AnnotationChange]), &c) != nil {
		return change{}
	}
	return c
}

// annotated is a claim's annotation of a change.
func (c change) annotated() map[string]string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // of two texts and a time
	}
	return map[string]string{AnnotationChange: string(text)}
}

// annotate sets annotations of a claim in the cluster, and takes away others, whatever the claim is known to have: the copy that a
// controller works with may be an older one.
func (p *Provider) annotate(ctx context.Context, claim *v1.NodeClaim, set map[string]string, remove ...string) error {
	annotations := make(map[string]any, len(set)+len(remove))
	for name, value := range set {
		annotations[name] = value
	}
	for _, name := range remove {
		annotations[name] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	named := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name}}
	return client.IgnoreNotFound(p.client.Patch(ctx, named, client.RawPatch(types.MergePatchType, patch)))
}
