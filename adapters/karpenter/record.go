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

// The annotations of a claim. All of them together have less than 9 KB of the 256 KB that an object's annotations may have.
const (
	// AnnotationKey contains the key of the launch that the node was made from ([launch.Launch.Key]).
	AnnotationKey = "slipway.dev/launch-key"
	// AnnotationRecord contains the record of that launch ([launch.Record.Text]).
	AnnotationRecord = "slipway.dev/launch-record"
	// AnnotationChange contains the change in place that is under way or has ended without success, in JSON.
	AnnotationChange = "slipway.dev/change"
)

// ownAnnotations are all of them.
var ownAnnotations = []string{AnnotationKey, AnnotationRecord, AnnotationChange}

// recordOf are the annotations that record what a node was made from.
func recordOf(l *launch.Launch) map[string]string {
	return map[string]string{AnnotationKey: l.Key(), AnnotationRecord: l.Record().Text()}
}

// change is a change in place of one node.
type change struct {
	// Key is the key of the launch that the node changes to.
	Key string `json:"key"`
	// Since is when it began.
	Since time.Time `json:"since"`
	// Told reports whether the machine may have another contract than the claim's record, by this change or by an earlier one.
	Told bool `json:"told,omitempty"`
	// Sent reports whether the cloud has accepted this change.
	Sent bool `json:"sent,omitempty"`
	// Ended is why the node cannot change in place. Empty means that it still may.
	Ended string `json:"ended,omitempty"`
	// done reports whether the node has changed. The claim may not show it yet. It is kept in memory only.
	done bool
}

// pending reports whether the change is under way.
func (c *change) pending() bool { return c.Key != "" && c.Ended == "" && !c.done }

// unsent reports whether the machine may not have the change yet: the process has died, or the cloud has not accepted it.
func (c *change) unsent() bool { return c.pending() && !c.Sent }

// unsettled reports whether the machine may differ from the claim's record.
func (c *change) unsettled() bool { return c.Key != "" && !c.done && (c.Told || c.unsent()) }

// changeOf reads the change in a claim's annotation. A damaged annotation counts as no change: the change is then begun again.
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

// annotate sets and removes annotations of a claim in the cluster. If version is not empty, the API server refuses the write with a
// conflict unless the claim has this resource version, because the caller decided from a copy that may be outdated.
func (p *Provider) annotate(ctx context.Context, claim *v1.NodeClaim, version string, set map[string]string, remove ...string) error {
	annotations := make(map[string]any, len(set)+len(remove))
	for name, value := range set {
		annotations[name] = value
	}
	for _, name := range remove {
		annotations[name] = nil
	}
	metadata := map[string]any{"annotations": annotations}
	if version != "" {
		metadata["resourceVersion"] = version
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	named := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name}}
	return client.IgnoreNotFound(p.client.Patch(ctx, named, client.RawPatch(types.MergePatchType, patch)))
}
