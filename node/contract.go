package node

import (
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Document is one of a contract's documents: for all nodes, for a pool, for one node.
type Document struct {
	// Name is the document's source, for messages: in a contract of several documents, a problem has its document's name. It may be
	// empty.
	Name string
	// Data is the document, JSON or YAML, at most 1 MiB.
	Data []byte
}

// Contract is a contract that has been read.
type Contract struct{ read *compile.Contract }

// Read reads a contract and detects its dialect. It always returns a Contract; [Contract.Problems] shows whether a node can be made
// of it.
//
// It merges up to 16 documents of one dialect before it decodes them: a later one wins over an earlier one. A map gets the entries
// of both; every other value, including a list, replaces the earlier one. A null keeps the earlier value; false, 0, "" and an empty
// list replace it. A document with neither apiVersion nor version has the dialect of the others.
func Read(documents ...Document) *Contract { return ReadAs("", documents...) }

// ReadAs reads a contract in a given dialect, such as "native" or "aks". Empty means that it is detected.
func ReadAs(dialect string, documents ...Document) *Contract {
	all := make([]compile.Document, len(documents))
	for i, d := range documents {
		all[i] = compile.Document{Name: d.Name, Data: d.Data}
	}
	return &Contract{compile.Read(all, dialect)}
}

// FromConfig returns the contract of a config that was made in Go. It does not change the config.
func FromConfig(c *nodeconfig.NodeConfig) *Contract {
	said := *c
	said.APIVersion, said.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	return Read(Document{Data: nodeconfig.Encode(&said)})
}

// AllowUnapplied turns errors into warnings for settings that this version does not apply although a workload may need them. A
// path, such as "network.localDNS", is in the contract's terms or in those of its config.
func (c *Contract) AllowUnapplied(paths ...string) { c.read.AllowUnapplied(paths...) }

// Dialect returns the contract's dialect, such as "native" or "aks". Empty means unknown.
func (c *Contract) Dialect() string { return c.read.Dialect }

// Config returns the contract in Slipway's own terms, with every default. It is never nil. It is complete unless a problem is
// fatal, and contains the contract's secrets.
func (c *Contract) Config() *nodeconfig.NodeConfig { return c.read.Config }

// Problems returns all problems of the contract itself, fatal ones first, under the author's paths. [Contract.Plan] returns them,
// too, together with those that depend on the machine.
func (c *Contract) Problems() []nodeconfig.Problem { return c.read.Problems }
