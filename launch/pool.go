package launch

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The labels that Karpenter and Kubernetes give a meaning (sigs.k8s.io/karpenter v1; Kubernetes: well-known labels).
const (
	labelPool         = "karpenter.sh/nodepool"
	labelCapacityType = "karpenter.sh/capacity-type"
	labelZone         = "topology.kubernetes.io/zone"
	labelOS           = "kubernetes.io/os"
)

// coreLabels are Karpenter's label domain and the label with the node's name. Of that domain, a pool may have two labels and those that
// follow from the node (sigs.k8s.io/karpenter v1: RestrictedLabelDomains, RestrictedLabels).
var coreLabels = []string{"karpenter.sh", "kubernetes.io/hostname"}

// unregistered keeps pods from a node until Karpenter has synced labels and taints onto it, and then takes the taint away.
// A node that comes without it can get pods that it should not have (sigs.k8s.io/karpenter: registration).
var unregistered = nodeconfig.Taint{Key: "karpenter.sh/unregistered", Effect: "NoExecute"}

// Request is an autoscaler's request for a node. Pool or Claim may be nil, not both.
type Request struct {
	// Pool is the claim's pool. If nil, the claim has no pool.
	Pool *NodePool
	// Claim is the requested node. If nil, it is derived from Pool.
	Claim *NodeClaim
}

// claim returns the request's claim, or the one that its pool makes.
func (r *Request) claim() *NodeClaim {
	if r.Claim != nil {
		return r.Claim
	}
	return r.Pool.claim()
}

// origin names the request in messages.
func (r *Request) origin() string {
	if r.Claim != nil {
		return r.Claim.Metadata.Origin("NodeClaim")
	}
	return r.Pool.Metadata.Origin("NodePool")
}

// prefix returns the path of the claim in the request's object.
func (r *Request) prefix() string {
	if r.Claim != nil {
		return "$"
	}
	return "$.spec.template"
}

// claim returns a claim as Karpenter makes it from a pool: with the template's labels and annotations, and the pool's label.
func (p *NodePool) claim() *NodeClaim {
	t := &p.Spec.Template
	labels := maps.Clone(t.Metadata.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	labels[labelPool] = p.Metadata.Name
	return &NodeClaim{Metadata: Meta{Labels: labels, Annotations: t.Metadata.Annotations}, Spec: t.Spec}
}

// layer returns the request's values: labels, taints, and the requirements that leave one value.
func (r *Request) layer(b *base) (Layer, []nodeconfig.Problem) {
	c, prefix := r.claim(), r.prefix()
	p := poolReader{Collector: problem.Collector{Document: r.origin()}, base: b, labels: make(map[string]string, len(c.Metadata.Labels)), single: make(map[string]string, len(c.Metadata.Labels)+len(c.Spec.Requirements))}
	if r.Claim != nil && r.Pool != nil {
		if name := c.Metadata.Labels[labelPool]; name != r.Pool.Metadata.Name {
			p.wrong(document.FieldPath("$.metadata.labels", labelPool), "is not the name of the pool; a claim of another pool is no node of this one")
		}
	}
	if !c.Spec.NodeClassRef.names(&b.class) {
		p.wrong(prefix+".spec.nodeClassRef", "names another node class than the one that is given; give the class that it names")
	}
	for key, value := range c.Metadata.Labels {
		if b.isForeign(key) {
			p.foreign(document.FieldPath(prefix+".metadata.labels", key))
			continue
		}
		p.label(key, value)
	}
	path := func(i int) string { return document.IndexPath(prefix+".spec.requirements", i) }
	for i := range c.Spec.Requirements {
		p.requirement(path, i, &c.Spec.Requirements[i])
	}
	l := Layer{Source: Pool, Origin: p.Document, Document: new(Document)}
	l.Document.Machine.CapacityType, l.Document.Machine.Zone = p.single[labelCapacityType], p.zone(c, path)
	l.Document.Node.Kubelet.Labels = p.labels
	l.Document.Node.Kubelet.Taints = taints(&c.Spec)
	return l, p.List
}

// place returns the path in the request's object of a label or a taint with a path in the contract. Problems of the contract's check
// name that path. A requirement that leaves one value goes before a label with the same key.
func (r *Request) place(b *base, path string) (string, bool) {
	c, prefix := r.claim(), r.prefix()
	for i := len(c.Spec.Requirements) - 1; i >= 0; i-- {
		r := &c.Spec.Requirements[i]
		if _, ok := r.single(); ok && b.mayPoolLabel(r.label()) && document.FieldPath(pathLabels, r.label()) == path {
			return document.IndexPath(prefix+".spec.requirements", i), true
		}
	}
	for key := range c.Metadata.Labels {
		if b.mayPoolLabel(key) && document.FieldPath(pathLabels, key) == path {
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
	problem.Collector
	base   *base
	labels map[string]string
	single map[string]string // of a label or requirement that leaves no choice
}

func (p *poolReader) wrong(path, format string, args ...any) {
	p.Fatal(nodeconfig.Invalid, path, format, args...)
}

// label takes a label of the claim that a kubelet may set; Karpenter sets the others when the node has registered. One that follows
// from the node is a requirement, and [Request.check] compares it.
func (p *poolReader) label(key, value string) {
	p.single[key] = value
	if p.base.mayPoolLabel(key) && nodeconfig.KubeletMaySet(key) {
		p.labels[key] = value
	}
}

// nodeLabels is the path of the labels in a [Document].
const nodeLabels = "$.node.kubelet.labels"

// mayPoolLabel reports whether a pool may set a label, and not the cloud's rules alone.
func (b *base) mayPoolLabel(key string) bool {
	sources, found := rowAt(b.fields, document.FieldPath(nodeLabels, key))
	return !found || slices.Contains(sources, Pool)
}

// isForeign reports whether a label is Karpenter's or the cloud's own, or of a domain of these or of one below it, and has no row.
func (b *base) isForeign(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	is := func(own string) bool { return own == key || own == domain || strings.HasSuffix(domain, "."+own) }
	if key == labelPool || key == labelCapacityType || !slices.ContainsFunc(coreLabels, is) && !slices.ContainsFunc(b.domains, is) {
		return false
	}
	_, own := b.fields[document.FieldPath(nodeLabels, key)]
	return !own
}

// requirement makes a label of one that leaves no choice.
func (p *poolReader) requirement(path func(int) string, i int, r *requirement) {
	if below, reason := r.malformed(); reason != "" {
		p.wrong(path(i)+below, "%s", reason)
		return
	}
	if p.base.isForeign(r.Key) {
		p.foreign(path(i) + ".key")
		return
	}
	if value, ok := r.single(); ok {
		if before, found := p.single[r.label()]; found && before != value {
			p.wrong(path(i), "contradicts a label or a requirement before it, so no node fulfils both")
			return
		}
		p.label(r.label(), value)
	}
}

// foreign reports a label that a request may not have (sigs.k8s.io/karpenter v1: RestrictedLabelDomains).
func (p *poolReader) foreign(path string) {
	p.wrong(path, "is a label, or of a domain of labels, that is Karpenter's or the cloud's own, and a pool may not have it; take it away, or use a domain of your own")
}

// zone is the machine's: the one that is left, or else the first that fulfils all requirements. A machine in no zone is the last choice.
func (p *poolReader) zone(c *NodeClaim, path func(int) string) string {
	regional := p.base.regional
	if zone := p.single[labelZone]; zone != "" && zone != regional {
		return zone
	}
	known, first := zonesOf(p.base.layers), -1
	possible := slices.Clip(known)
	for i := range c.Spec.Requirements {
		r := &c.Spec.Requirements[i]
		if r.label() != labelZone || r.Operator == "DoesNotExist" {
			continue
		}
		if _, reason := r.malformed(); reason != "" {
			continue
		}
		if first < 0 {
			first = i
		}
		if r.Operator == "In" && known == nil {
			possible = append(possible, r.Values...)
		}
	}
	if first < 0 {
		return ""
	}
	if regional != "" {
		if p.single[labelZone] == regional {
			possible = nil // the label leaves this choice alone
		}
		possible = append(possible, regional)
	}
	for _, zone := range possible {
		if slices.ContainsFunc(c.Spec.Requirements, func(r requirement) bool { return r.label() == labelZone && !r.fulfilled(zone, true) }) {
			continue
		}
		if zone == regional {
			return ""
		}
		return zone
	}
	if known == nil {
		p.wrong(path(first), "leaves no zone: it is not known which the instance type has; name some with In")
	} else {
		p.wrong(path(first), "leaves no zone of those that the instance type has, which are %s", cmp.Or(strings.Join(known, ", "), "none"))
	}
	return ""
}

// zonesOf returns the zones that have the instance type; nil means unknown.
func zonesOf(layers []Layer) (zones []string) {
	for i := range layers {
		if d := layers[i].Document; d != nil && d.Machine.Type.Zones != nil {
			zones = d.Machine.Type.Zones
		}
	}
	return zones
}

// taints are the claim's, those of the start after the others, and the unregistered taint once.
func taints(spec *claimSpec) []nodeconfig.Taint {
	all := make([]nodeconfig.Taint, 0, len(spec.Taints)+len(spec.StartupTaints)+1)
	all = append(append(all, spec.Taints...), spec.StartupTaints...)
	if !slices.ContainsFunc(all, func(t nodeconfig.Taint) bool { return t.Key == unregistered.Key && t.Effect == unregistered.Effect }) {
		all = append(all, unregistered)
	}
	return all
}
