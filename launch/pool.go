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

// claim is the request's claim.
func (r *Request) claim() *NodeClaim {
	if r.Claim != nil {
		return r.Claim
	}
	return r.Pool.claim()
}

// origin is what the request is called for people.
func (r *Request) origin() string {
	if r.Claim != nil {
		return r.Claim.Metadata.Origin("NodeClaim")
	}
	return r.Pool.Metadata.Origin("NodePool")
}

// annotations are those that the claim has, or that the pool gives it.
func (r *Request) annotations() map[string]string {
	if r.Claim != nil {
		return r.Claim.Metadata.Annotations
	}
	return r.Pool.Spec.Template.Metadata.Annotations
}

// prefix is the path of the claim in the request's object.
func (r *Request) prefix() string {
	if r.Claim != nil {
		return "$"
	}
	return "$.spec.template"
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

// layer is what the request says: labels, taints, and what its requirements leave no choice of. The class is the one that the node is
// made of.
func (r *Request) layer(fields []Field, class *ClassRef) (Layer, []nodeconfig.Problem) {
	c, prefix := r.claim(), r.prefix()
	p := poolReader{at: r.origin(), fields: fields, labels: make(map[string]string, len(c.Metadata.Labels)), single: make(map[string]string, len(c.Metadata.Labels)+len(c.Spec.Requirements))}
	if r.Claim != nil && r.Pool != nil {
		if name := c.Metadata.Labels[labelPool]; name != r.Pool.Metadata.Name {
			p.wrong(document.FieldPath("$.metadata.labels", labelPool), "is not the name of the pool; a claim of another pool is no node of this one")
		}
	}
	if !c.Spec.NodeClassRef.names(class) {
		p.wrong(prefix+".spec.nodeClassRef", "names another node class than the one that is given; give the class that it names")
	}
	for key, value := range c.Metadata.Labels {
		p.label(key, value)
	}
	for i := range c.Spec.Requirements {
		p.requirement(func() string { return document.IndexPath(prefix+".spec.requirements", i) }, &c.Spec.Requirements[i])
	}
	l := Layer{Source: Pool, Origin: p.at, Document: new(Document)}
	l.Document.Machine.CapacityType, l.Document.Machine.Zone = p.single[labelCapacityType], p.single[labelZone]
	l.Document.Node.Kubelet.Labels = p.labels
	l.Document.Node.Kubelet.Taints = taints(&c.Spec)
	return l, p.problems
}

// place is the place in the request's object of a label or a taint, by its path in a contract. What the contract's check finds wrong
// with one is reported there. A requirement that leaves no choice goes before a label with the same key.
func (r *Request) place(fields []Field, path string) (string, bool) {
	c, prefix := r.claim(), r.prefix()
	for i := len(c.Spec.Requirements) - 1; i >= 0; i-- {
		requirement := &c.Spec.Requirements[i]
		if _, ok := requirement.single(); ok && mayPoolLabel(fields, requirement.Key) && document.FieldPath(pathLabels, requirement.Key) == path {
			return document.IndexPath(prefix+".spec.requirements", i), true
		}
	}
	for key := range c.Metadata.Labels {
		if mayPoolLabel(fields, key) && document.FieldPath(pathLabels, key) == path {
			return document.FieldPath(prefix+".metadata.labels", key), true
		}
	}
	for i := range len(c.Spec.Taints) + len(c.Spec.StartupTaints) {
		name, at := "taints", i
		if i >= len(c.Spec.Taints) {
			name, at = "startupTaints", i-len(c.Spec.Taints)
		}
		if document.IndexPath("$.kubelet.taints", i) == path {
			return document.IndexPath(prefix+".spec."+name, at), true
		}
	}
	return "", false
}

// pathLabels is the path of the labels in a contract.
const pathLabels = "$.kubelet.labels"

// poolReader reads a claim.
type poolReader struct {
	at       string
	fields   []Field
	labels   map[string]string
	single   map[string]string // of a label or requirement that leaves no choice
	problems []nodeconfig.Problem
}

func (p *poolReader) wrong(path, format string, args ...any) {
	p.problems = append(p.problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true, Document: p.at})
}

// label takes a label of the claim that a kubelet may set; Karpenter sets the others when the node has registered. One that follows
// from the node is a requirement, and [Request.check] compares it.
func (p *poolReader) label(key, value string) {
	p.single[key] = value
	if mayPoolLabel(p.fields, key) && nodeconfig.KubeletMaySet(key) {
		p.labels[key] = value
	}
}

// nodeLabels is the path of the labels in a [Document].
const nodeLabels = "$.node.kubelet.labels"

// mayPoolLabel reports whether a pool may set a label, and not the cloud's rules alone: the label's own row counts, and else that of
// all labels. It makes no path for that.
func mayPoolLabel(fields []Field, key string) bool {
	for i := range fields {
		if name, ok := labelOf(fields[i].Path); ok && name == key {
			return slices.Contains(fields[i].Sources, Pool)
		}
	}
	f := fieldOf(fields, nodeLabels)
	return f == nil || slices.Contains(f.Sources, Pool)
}

// labelOf is the label whose row a path is, if it is one. The name is plain or in quotes; no label has a character that is escaped there.
func labelOf(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, nodeLabels)
	if name, plain := strings.CutPrefix(rest, "."); !ok || plain {
		return name, ok
	}
	name, ok := strings.CutPrefix(rest, `["`)
	return strings.TrimSuffix(name, `"]`), ok
}

// operators are those of requirements (sigs.k8s.io/karpenter v1: NodeSelectorRequirementWithMinValues).
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}

// requirement makes a label of one that leaves no choice.
func (p *poolReader) requirement(path func() string, r *Requirement) {
	switch {
	case !slices.Contains(operators, r.Operator):
		p.wrong(path()+".operator", "is not known; use one of %s", strings.Join(operators, ", "))
		return
	case r.Operator == "In" && len(r.Values) == 0:
		p.wrong(path()+".values", "is empty, and so no node fulfils the requirement")
		return
	case r.Key == labelOS && !slices.Contains(r.Values, "linux") && r.Operator == "In":
		p.wrong(path()+".values", "does not have linux; Slipway makes Linux nodes")
		return
	}
	if value, ok := r.single(); ok {
		if before, said := p.single[r.Key]; said && before != value {
			p.wrong(path(), "contradicts a label or a requirement before it, so no node fulfils both")
			return
		}
		p.label(r.Key, value)
	}
}

// taints are the claim's, those of the start after the others, and the unregistered taint once.
func taints(spec *ClaimSpec) []nodeconfig.Taint {
	all := make([]nodeconfig.Taint, 0, len(spec.Taints)+len(spec.StartupTaints)+1)
	all = append(append(all, spec.Taints...), spec.StartupTaints...)
	if !slices.ContainsFunc(all, func(t nodeconfig.Taint) bool { return t.Key == unregistered.Key && t.Effect == unregistered.Effect }) {
		all = append(all, unregistered)
	}
	return all
}
