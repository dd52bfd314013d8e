package launch

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Source is where a value is from.
type Source string

// The sources of configuration (Karpenter for Azure: AKS Node Bootstrapping, "Karpenter configuration sources").
const (
	// Hardcoded values are the cloud's own, the same for all nodes.
	Hardcoded Source = "hardcoded"
	// Environment is the environment of the program that launches: its subscription, its region.
	Environment Source = "environment"
	// Global are the settings of the program that launches: its options, or its ConfigMap.
	Global Source = "settings"
	// Pool is the node pool, and the claim that was made of it.
	Pool Source = "nodePool"
	// Class is the node class.
	Class Source = "nodeClass"
	// Detected values were read from the cluster or the cloud.
	Detected Source = "detected"
	// Computed values follow from others by a [Rule].
	Computed Source = "computed"
)

// ranks are the sources, the weakest first. Karpenter's document lists the sources without an order. Slipway uses an explicit value before
// a detected one, and a value for fewer nodes before one for more. No other source may set the field of a computed value.
var ranks = []Source{Hardcoded, Detected, Environment, Global, Pool, Class, Computed}

// explicit are the sources that a person has written.
var explicit = []Source{Environment, Global, Pool, Class}

func (s Source) rank() int { return slices.Index(ranks, s) }

// Document describes a node and its machine, or a part of them. A zero value means that it is not set.
type Document struct {
	// Node is the node's contract.
	Node nodeconfig.NodeConfig `json:"node,omitzero"`
	// Machine is what Slipway requests from the cloud.
	Machine Machine `json:"machine,omitzero"`
}

// Layer has the values of one source.
type Layer struct {
	Source Source
	// Origin names the exact source in messages: an object with its generation, a file, a request with its time.
	Origin string
	// Lines maps a path to its value's place in the origin: a line of a file, the name of a variable, the field of an object that holds a
	// document. It may be nil.
	Lines map[string]string
	// Document has the values; nil means none. Several layers may share a document, so no code changes it.
	Document *Document
	// Place returns the path in the origin of the document's value at a path. Problems with the value name that path. If Lines has the path,
	// its line counts instead. Place is nil if the origin has no paths. Only a rule may override a value of a layer with Place.
	Place func(path string) (place string, ok bool)
}

// AddLines sets the line in the origin of each value of a document.
func (l *Layer) AddLines(values *Document, line string) {
	if l.Lines == nil {
		l.Lines = make(map[string]string)
	}
	treeOf(values).Walk("$", func(path []byte, _ *document.Node) { l.Lines[string(path)] = line })
}

// each calls visit for each value of the layer.
func (l *Layer) each(visit func(path []byte, n *document.Node)) {
	if l.Document != nil {
		treeOf(l.Document).Walk("$", visit)
	}
}

// where names the origin and line of the layer's value at a path.
func (l *Layer) where(path string) string { return where(l.Origin, l.Lines[path]) }

// Foreign returns the paths that the layer sets and its source may not set, by a cloud's fields.
func (l *Layer) Foreign(fields map[string][]Source) []string {
	var foreign []string
	l.each(func(at []byte, _ *document.Node) {
		if sources, _ := rowAt(fields, at); !slices.Contains(sources, l.Source) {
			foreign = append(foreign, string(at))
		}
	})
	return foreign
}

// Rule computes values from others.
type Rule struct {
	// Name is what the rule decides: "image family".
	Name string
	// Reads are the paths that the rule depends on, Sets the paths that it may set. No two rules of a cloud set the same path.
	Reads, Sets []string
	// Run sets them. If it cannot decide a value, it leaves the value unset and returns a problem.
	Run func(*Document) []nodeconfig.Problem
}

// Cloud is a cloud's decisions for one launch.
type Cloud interface {
	// Layers returns the values of the cloud's inputs, and the problems with them.
	Layers() ([]Layer, []nodeconfig.Problem)
	// ClassRef names the node class of the layers. An empty field means unknown.
	ClassRef() ClassRef
	// Fields maps a path in [Document] to the sources that may set that field and all fields below it; the longest path counts. A field of
	// [Computed] has no other source. If [Pool] may set a field, neither [Class] nor [Detected] may.
	Fields() map[string][]Source
	// Domains returns the cloud's own label domains, and its own labels without a domain. A request may have such a label only if Fields
	// has a row for it.
	Domains() []string
	// Regional is the value of the zone label of a machine in no zone. Empty means that the cloud has no such machines.
	Regional() string
	// Rules returns the rules that compute the other values, in the order in which they run.
	Rules() []Rule
}
