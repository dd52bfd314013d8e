package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The labels that Karpenter and Kubernetes give a meaning (sigs.k8s.io/karpenter v1; Kubernetes: well-known labels).
const (
	labelPool         = "karpenter.sh/nodepool"
	labelCapacityType = "karpenter.sh/capacity-type"
	labelZone         = "topology.kubernetes.io/zone"
	labelOS           = "kubernetes.io/os"
)

// unregistered keeps pods from a node until Karpenter has synced labels and taints onto it, and then takes the taint away.
// A node that comes without it can get pods that it should not have (sigs.k8s.io/karpenter: registration).
var unregistered = nodeconfig.Taint{Key: "karpenter.sh/unregistered", Effect: "NoExecute"}

// Request is what an autoscaler asks for.
type Request struct {
	// Pool is the claim's pool; nil for a claim of its own.
	Pool *NodePool
	// Claim is what is asked for; nil for a claim as the pool would make it.
	Claim *NodeClaim
}

// claim is the request's claim, and what it is called for people.
func (r *Request) claim() (*NodeClaim, string) {
	if r.Claim != nil {
		return r.Claim, "NodeClaim " + r.Claim.Metadata.Name
	}
	return r.Pool.claim(), "NodePool " + r.Pool.Metadata.Name
}

// claim is one as Karpenter makes it of a pool: with the template's labels and annotations, and the label of the pool.
func (p *NodePool) claim() *NodeClaim {
	t := &p.Spec.Template
	labels := maps.Clone(t.Metadata.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	labels[labelPool] = p.Metadata.Name
	return &NodeClaim{Metadata: Meta{Labels: labels, Annotations: t.Metadata.Annotations}, Spec: t.Spec}
}

// layer is what the request says: labels, taints, and what its requirements leave no choice of.
func (r *Request) layer(fields []Field) (ownLayer, []nodeconfig.Problem) {
	c, origin := r.claim()
	p := poolReader{at: origin, fields: fields, labels: make(map[string]string), single: make(map[string]string), places: make(map[string]string)}
	if r.Claim != nil && r.Pool != nil {
		if name := c.Metadata.Labels[labelPool]; name != r.Pool.Metadata.Name {
			p.wrong(document.FieldPath("$.metadata.labels", labelPool), "is not the name of the pool; a claim of another pool is no node of this one")
		}
	}
	prefix := "$"
	if r.Claim == nil {
		prefix = "$.spec.template"
	}
	for _, key := range slices.Sorted(maps.Keys(c.Metadata.Labels)) {
		p.label(document.FieldPath(prefix+".metadata.labels", key), key, c.Metadata.Labels[key])
	}
	for i := range c.Spec.Requirements {
		p.requirement(document.IndexPath(prefix+".spec.requirements", i), &c.Spec.Requirements[i])
	}
	l := Layer{Source: Pool, Origin: origin}
	l.Document.Machine.CapacityType, l.Document.Machine.Zone = p.single[labelCapacityType], p.single[labelZone]
	l.Document.Node.Kubelet.Labels = settable(p.labels)
	l.Document.Node.Kubelet.Taints = p.taints(prefix, &c.Spec)
	return ownLayer{l, p.places}, p.problems
}

// ownLayer is the layer of a request, with the place in the claim of each of its labels and taints by its path in a contract. What
// the contract's check finds wrong with one is reported there.
type ownLayer struct {
	Layer
	places map[string]string
}

// poolReader reads a claim.
type poolReader struct {
	at       string
	fields   []Field
	labels   map[string]string
	single   map[string]string // of a label or requirement that leaves no choice
	places   map[string]string // in the claim, of each label and taint by its path in a NodeConfig
	problems []nodeconfig.Problem
}

func (p *poolReader) wrong(path, format string, args ...any) {
	p.problems = append(p.problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true, Document: p.at})
}

// label takes a label of the claim. One that follows from the node is a requirement, and [Request.check] compares it.
func (p *poolReader) label(path, key, value string) {
	p.single[key] = value
	if mayPoolLabel(p.fields, key) {
		p.labels[key] = value
		p.places[document.FieldPath("$.kubelet.labels", key)] = path
	}
}

// mayPoolLabel reports whether a pool may set a label, and not the cloud's rules alone.
func mayPoolLabel(fields []Field, key string) bool {
	f := fieldOf(fields, document.FieldPath("$.node.kubelet.labels", key))
	return f == nil || slices.Contains(f.Sources, Pool)
}

// operators are those of requirements (sigs.k8s.io/karpenter v1: NodeSelectorRequirementWithMinValues).
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}

// requirement makes a label of one that leaves no choice.
func (p *poolReader) requirement(path string, r *Requirement) {
	switch {
	case !slices.Contains(operators, r.Operator):
		p.wrong(path+".operator", "is not known; use one of %s", strings.Join(operators, ", "))
		return
	case r.Operator == "In" && len(r.Values) == 0:
		p.wrong(path+".values", "is empty, and so no node fulfils the requirement")
		return
	case r.Key == labelOS && !slices.Contains(r.Values, "linux") && r.Operator == "In":
		p.wrong(path+".values", "does not have linux; Slipway makes Linux nodes")
		return
	}
	if value, ok := r.single(); ok {
		if before, said := p.single[r.Key]; said && before != value {
			p.wrong(path, "contradicts a label or a requirement before it, so no node fulfils both")
			return
		}
		p.label(path, r.Key, value)
	}
}

// taints are the claim's, those of the start after the others, and the unregistered taint once.
func (p *poolReader) taints(prefix string, spec *ClaimSpec) []nodeconfig.Taint {
	var all []nodeconfig.Taint
	has := false
	for _, list := range []struct {
		name   string
		taints []nodeconfig.Taint
	}{{"taints", spec.Taints}, {"startupTaints", spec.StartupTaints}} {
		for i, t := range list.taints {
			p.places[document.IndexPath("$.kubelet.taints", len(all))] = document.IndexPath(prefix+".spec."+list.name, i)
			all = append(all, t)
			has = has || t.Key == unregistered.Key && t.Effect == unregistered.Effect
		}
	}
	if !has {
		all = append(all, unregistered)
	}
	return all
}

// settable are the labels that a kubelet may set. Karpenter sets the others when the node has registered.
func settable(labels map[string]string) map[string]string {
	kept := make(map[string]string, len(labels))
	for key, value := range labels {
		if nodeconfig.KubeletMaySet(key) {
			kept[key] = value
		}
	}
	return kept
}
