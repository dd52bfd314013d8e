package launch

import (
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// KarpenterVersion is the API of pools and claims.
const KarpenterVersion = "karpenter.sh/v1"

// Meta has the fields of an object's metadata that can change a node.
type Meta struct {
	Name        string            `json:"name"`
	Generation  int64             `json:"generation,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Origin names an object of a kind in messages: its name, and its generation, which the API server counts.
func (m *Meta) Origin(kind string) string {
	if m.Generation > 0 {
		return kind + " " + m.Name + " (generation " + strconv.FormatInt(m.Generation, 10) + ")"
	}
	return kind + " " + m.Name
}

// requirement restricts where a node may be, and what it may be.
type requirement struct {
	Key string `json:"key"`
	// Operator is "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte" or "Lte".
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// MinValues restricts the autoscaler's choice. It changes no node.
	MinValues *int `json:"minValues,omitempty"`
}

// ClassRef names a node class.
type ClassRef struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
}

// names reports whether a reference can be to a class. An empty field on either side matches any value.
func (r *ClassRef) names(class *ClassRef) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return same(r.Group, class.Group) && same(r.Kind, class.Kind) && same(r.Name, class.Name)
}

// claimSpec is what a claim wants, and what a pool wants of its claims.
type claimSpec struct {
	Taints        []nodeconfig.Taint `json:"taints,omitempty"`
	StartupTaints []nodeconfig.Taint `json:"startupTaints,omitempty"`
	Requirements  []requirement      `json:"requirements,omitempty"`
	NodeClassRef  ClassRef           `json:"nodeClassRef,omitzero"`
	// Resources, TerminationGracePeriod and ExpireAfter are the autoscaler's. They change no node.
	Resources              any `json:"resources,omitempty"`
	TerminationGracePeriod any `json:"terminationGracePeriod,omitempty"`
	ExpireAfter            any `json:"expireAfter,omitempty"`
}

// NodeClaim asks for one node (karpenter.sh/v1).
type NodeClaim struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Meta      `json:"metadata"`
	Spec       claimSpec `json:"spec"`
}

// NodePool is a kind of nodes (karpenter.sh/v1).
type NodePool struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   Meta   `json:"metadata"`
	Spec       struct {
		Template struct {
			Metadata Meta      `json:"metadata,omitzero"`
			Spec     claimSpec `json:"spec"`
		} `json:"template"`
		// Disruption, Limits, Weight and Replicas are the autoscaler's. They change no node.
		Disruption any `json:"disruption,omitempty"`
		Limits     any `json:"limits,omitempty"`
		Weight     any `json:"weight,omitempty"`
		Replicas   any `json:"replicas,omitempty"`
	} `json:"spec"`
}

// unread are the parts of an object that change no node, or that another program writes. An unknown field there is no problem.
var unread = []string{"$.metadata", "$.status", "$.spec.template.metadata"}

// Read fills an object from a document, YAML or JSON. It returns all problems, with paths of the document. An unknown field is an error,
// because it would have no effect, but not in metadata and status.
func Read(data []byte, apiVersion, kind string, object any) []nodeconfig.Problem {
	tree, err := document.Parse(data)
	if err != nil {
		return []nodeconfig.Problem{nodeconfig.Unreadable(err)}
	}
	var problems []nodeconfig.Problem
	for _, want := range [][2]string{{"apiVersion", apiVersion}, {"kind", kind}} {
		if n, ok := tree.Get(want[0]); !ok || n.Text != want[1] {
			problems = append(problems, nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$." + want[0], Reason: "want " + want[1], Fatal: true})
		}
	}
	if len(problems) > 0 {
		return problems // the fields of another kind cannot be checked
	}
	document.Decode(tree, object, document.Options{Names: document.JSONNames, Strict: true, Report: func(f document.Fault) {
		if f.Kind == document.Unknown && slices.ContainsFunc(unread, func(at string) bool { return document.Within(f.Path, at) }) {
			return
		}
		p := nodeconfig.ProblemOf(f, true)
		p.Fatal = true
		problems = append(problems, p)
	}})
	return problems
}
