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

// ranks are the sources, the weakest first. That document lists sources and no order. Here an explicit value goes before one that
// was found, and one for fewer nodes before one for more. A computed value has no rival: no other source may set its field.
var ranks = []Source{Hardcoded, Detected, Environment, Global, Pool, Class, Computed}

// explicit are the sources in which somebody has said what he wants.
var explicit = []Source{Environment, Global, Pool, Class}

func (s Source) rank() int { return slices.Index(ranks, s) }

// Document is a part of what a node and its machine will be. What is zero is not said.
type Document struct {
	// Node is the node's contract.
	Node nodeconfig.NodeConfig `json:"node,omitzero"`
	// Machine is what the cloud is asked for.
	Machine Machine `json:"machine,omitzero"`
}

// Layer is what one source says.
type Layer struct {
	Source Source
	// Origin says for people where exactly it is from: an object with its generation, a file, a request with its time.
	Origin string
	// Lines say where in the origin the value of a path is, if there is more to say: a line of a file, the name of a variable, the field of
	// an object that holds a document. It may be nil.
	Lines map[string]string
	// Document is what it says; nil says nothing. Layers may share it with whoever made them, and nobody changes it.
	Document *Document
	// Place is the place in the origin of what the document says at a path, and what is wrong with it is told there; where Lines have the
	// path, they say it. It is nil where the origin has no places of its own. What such a layer says, no other one may say better but by a
	// rule.
	Place func(path string) (place string, ok bool)
}

// AddLines says where in the origin the values of a document are.
func (l *Layer) AddLines(values *Document, line string) {
	if l.Lines == nil {
		l.Lines = make(map[string]string)
	}
	treeOf(values).Walk("$", func(path []byte, _ *document.Node) { l.Lines[string(path)] = line })
}

// each calls visit for each value that the layer says.
func (l *Layer) each(visit func(path []byte, n *document.Node)) {
	if l.Document != nil {
		treeOf(l.Document).Walk("$", visit)
	}
}

// where is the place of the layer's value of a path, for people.
func (l *Layer) where(path string) string { return where(l.Origin, l.Lines[path]) }

// Foreign are the paths of what the layer says and its source may not set, by a cloud's fields.
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
	// Name says what it decides: "image family".
	Name string
	// Reads are the paths that it depends on, Sets those that it may set. No two rules of a cloud set the same.
	Reads, Sets []string
	// Run sets them. What it cannot decide it leaves out, and returns as problems.
	Run func(*Document) []nodeconfig.Problem
}

// Cloud is a cloud's decisions for one launch.
type Cloud interface {
	// Layers are what the cloud's inputs say, and what is wrong with them.
	Layers() ([]Layer, []nodeconfig.Problem)
	// ClassRef names the node class that the layers are of; what is empty in it is not known.
	ClassRef() ClassRef
	// Fields are the sources that may set a field and all below it, by the paths in [Document]; the longest path counts. Computed is the only
	// source of its fields. What [Pool] may set, neither [Class] nor [Detected] may.
	Fields() map[string][]Source
	// Domains are the domains of labels that are the cloud's own, and its own labels without a domain: of those, a request may have none
	// that has no row in Fields.
	Domains() []string
	// Regional is what the zone's label of a machine in no zone has; empty if a cloud has no such machines.
	Regional() string
	// Rules compute what is left, in this order.
	Rules() []Rule
}
