package node

import (
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Document is one of those that a contract is made of: of all nodes, of a pool, of one node.
type Document struct {
	// Name is where it is from, for messages: where there are several, a problem has the name of its own. It may be empty.
	Name string
	// Data is the document, JSON or YAML, at most 1 MiB.
	Data []byte
}

// Contract is a contract that has been read.
type Contract struct{ read *compile.Contract }

// Read reads a contract in the dialect that it is written in. There is always a Contract; [Contract.Problems] says
// whether a node can be made of it.
//
// Up to 16 documents, all of one dialect, are merged as they are written: a later one goes before an earlier one. A map
// gets the entries of both, every other value stands for the whole of the earlier one, lists too. A null keeps what an
// earlier document says; false, 0, "" and an empty list do not. A document that says neither apiVersion nor version is of
// the dialect of the others.
func Read(documents ...Document) *Contract { return ReadAs("", documents...) }

// ReadAs reads a contract in a dialect that is named, as "native" or "aks". Empty means that it is detected.
func ReadAs(dialect string, documents ...Document) *Contract {
	all := make([]compile.Document, len(documents))
	for i, d := range documents {
		all[i] = compile.Document{Name: d.Name, Data: d.Data}
	}
	return &Contract{compile.Read(all, dialect)}
}

// FromConfig is the contract of a config that was made in Go. The config is not changed.
func FromConfig(c *nodeconfig.NodeConfig) *Contract {
	said := *c
	said.APIVersion, said.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	return Read(Document{Data: nodeconfig.Encode(&said)})
}

// AllowUnapplied allows settings not to be applied that are errors otherwise, because somebody needs them and this version
// does not apply them. A setting is named by its path, such as "network.localDNS", in the contract's terms or in those of
// its config.
func (c *Contract) AllowUnapplied(paths ...string) { c.read.AllowUnapplied(paths...) }

// Dialect is the one that the contract is written in, as "native" or "aks"; empty if it is not known.
func (c *Contract) Dialect() string { return c.read.Dialect }

// Config is what the contract says, in Slipway's own terms, with every default. It is never nil. It is complete unless a
// problem is fatal, and holds the contract's secrets.
func (c *Contract) Config() *nodeconfig.NodeConfig { return c.read.Config }

// Problems are all that is wrong with the contract itself, fatal ones first, under the paths of its author.
// [Contract.Plan] returns them too, with what can only be known of a machine.
func (c *Contract) Problems() []nodeconfig.Problem { return c.read.Problems }
