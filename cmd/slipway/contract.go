package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// place names the contract before problems.
func (c *contract) place() string { return command.PlaceName(c.name) }

// contract is a contract that has been read.
type contract struct {
	name   string // of the file, as given; of several, all
	strict bool   // whether warnings are refused like errors
	*compile.Contract
}

// read reads the contract from the command line, also with problems. It merges several files.
func (f *source) read(s cli.Streams) (*contract, error) {
	if len(f.files) == 0 {
		return nil, cli.Usage("name it with -f FILE, or with -f - for standard input", "no contract is given")
	}
	as, err := readingOf(s, f.node, f.files...)
	if err != nil {
		return nil, err
	}
	as.Dialect, as.Profile = f.dialect.Value, f.profile.Value
	var documents []compile.Document
	for _, name := range f.files {
		data, err := command.ReadInput(s, name)
		if err != nil {
			return nil, err
		}
		documents = append(documents, compile.Document{Name: command.PlaceName(name), Data: data})
	}
	read := compile.ReadAs(documents, as)
	read.AllowUnapplied(f.allowed...)
	return &contract{strings.Join(f.files, " + "), f.strict, read}, nil
}

// planned reads a contract and a machine's facts, and plans the node. The contract's problems are in it.
func (f *source) planned(s cli.Streams, factsFile string) (*contract, resource.Plan, error) {
	if err := oneStdin(append(slices.Clone(f.files), factsFile)...); err != nil {
		return nil, resource.Plan{}, err
	}
	c, err := f.read(s)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	known, err := readFacts(s, factsFile)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	return c, c.plan(known), nil
}

// readingOf is how to read the contract, for the selected node and beside the contract files.
func readingOf(s cli.Streams, node command.Node, files ...string) (as compile.Reading, err error) {
	as.NodeGroup = node.Group
	if err := oneStdin(append(slices.Clone(files), node.Cluster)...); err != nil || node.Cluster == "" {
		return as, err
	}
	as.ClusterName = command.PlaceName(node.Cluster)
	as.Cluster, err = command.ReadInput(s, node.Cluster)
	return as, err
}

func decode(name string, data []byte, as compile.Reading) *contract {
	return &contract{name: name, Contract: compile.ReadAs([]compile.Document{{Name: name, Data: data}}, as)}
}

// parsed reports whether the contract could be read at all.
func (c *contract) parsed() bool { return c.Readable() }

// valid reports whether the contract can make a node.
func (c *contract) valid() bool { return len(c.Fatal()) == 0 }

// refused reports whether the command that reads the contract must fail: the contract has errors, or it has warnings
// and the command is strict.
func (c *contract) refused() bool { return !c.valid() || c.strict && len(c.Problems) > 0 }

// inWords names the dialect and the kind of document.
func (c *contract) inWords() string {
	if d := dialect.Named(c.Dialect); d != nil {
		return d.Noun
	}
	return "contract"
}

// plan plans the node, and adds the planner's problems to the contract's. The plan is usable if the contract is still
// valid.
func (c *contract) plan(f facts.Facts) resource.Plan {
	planned, problems := c.Plan(f)
	c.Problems = problems
	return planned
}

// require prints the contract's problems, and returns an error if it is refused.
func (c *contract) require(s cli.Streams) error {
	_, _ = io.WriteString(s.Err, cli.Problems(c.place(), c.Problems, cli.StyleOf(s.Err)))
	refusal := func(format string, args ...any) error {
		return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf(format, args...), Problems: c.Problems}
	}
	switch {
	case !c.valid():
		return refusal("%s has %s", command.Title(c.name), cli.Plural(len(c.Fatal()), "error"))
	case c.refused():
		return refusal("%s has %s, and --strict allows none", command.Title(c.name), cli.CountProblems(c.Problems))
	}
	return nil
}

// readFacts reads recorded facts. Without a file all facts are unknown.
func readFacts(s cli.Streams, name string) (facts.Facts, error) {
	if name == "" {
		return facts.Facts{}, nil
	}
	data, err := command.ReadInput(s, name)
	if err != nil {
		return facts.Facts{}, err
	}
	f, err := facts.ParseGiven(data)
	if err != nil {
		return facts.Facts{}, command.Failed("--facts: %s %w", command.Title(name), err)
	}
	return f, nil
}

// oneStdin refuses to read standard input twice.
func oneStdin(names ...string) error {
	n := 0
	for _, name := range names {
		if name == command.Stdin {
			n++
		}
	}
	if n > 1 {
		return cli.Usage("put one of them in a file", "standard input can be read only once")
	}
	return nil
}
