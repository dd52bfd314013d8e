package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// maxInput bounds what is read of any input, since standard input may have no end. A contract's own
// limit is lower, and its decoder's to enforce.
const maxInput = 16 << 20

// stdin is how standard input is named on the command line.
const stdin = "-"

// readInput reads a file, or standard input.
func readInput(s cli.Streams, name string) ([]byte, error) {
	in := s.In
	if name != stdin {
		file, err := os.Open(name)
		if err != nil {
			return nil, failed("%w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, failed("%w", err)
	case len(data) > maxInput:
		return nil, failed("%s is larger than %d MiB, which nothing that is read here is", title(name), maxInput>>20)
	}
	return data, nil
}

// title names an input for people.
func title(name string) string {
	if name == stdin {
		return "standard input"
	}
	return name
}

// contract is a contract that has been read.
type contract struct {
	name string // of the file, as given
	data []byte
	dialect.Decoded
}

// read reads the contract that the command line names, whatever its problems.
func (f *source) read(s cli.Streams) (*contract, error) {
	if f.file == "" {
		return nil, cli.Usage("name it with -f FILE, or with -f - for standard input", "no contract is given")
	}
	data, err := readInput(s, f.file)
	if err != nil {
		return nil, err
	}
	return decode(f.file, data, f.dialect.value), nil
}

func decode(name string, data []byte, dialectName string) *contract {
	return &contract{name, data, dialect.Decode(data, dialectName)}
}

// parsed tells whether the contract could be read at all.
func (c *contract) parsed() bool { return len(c.Canonical) > 0 }

// valid tells whether a node can be made of it.
func (c *contract) valid() bool { return len(nodeconfig.Fatal(c.Problems)) == 0 }

// inWords names the dialect and the kind of document.
func (c *contract) inWords() string {
	switch c.Dialect {
	case dialect.Native:
		return "native contract"
	case dialect.AKS:
		return "AKS contract"
	}
	return "contract"
}

// plan plans the node, and adds the planner's problems to the contract's. The contract must be
// valid.
func (c *contract) plan(f facts.Facts) resource.Plan {
	p, problems := plan.New(c.Config, f)
	p.Dialect = c.Dialect
	if len(problems) == 0 {
		return p
	}
	origin := c.origin()
	for _, problem := range problems {
		problem.Path = origin(problem.Path)
		if !slices.Contains(c.Problems, problem) {
			c.Problems = append(c.Problems, problem)
		}
	}
	nodeconfig.SortProblems(c.Problems)
	return p
}

// origin returns what maps a path of the NodeConfig to the contract's own.
func (c *contract) origin() func(string) string {
	if c.Dialect == dialect.AKS {
		return aks.Decode(c.data).Origin
	}
	return func(path string) string { return path }
}

// require prints the contract's problems and refuses one that has errors.
func (c *contract) require(s cli.Streams) error {
	c.warn(s)
	if !c.valid() {
		return failed("%s has %s", title(c.name), cli.Plural(len(nodeconfig.Fatal(c.Problems)), "error"))
	}
	return nil
}

// warn prints the contract's problems.
func (c *contract) warn(s cli.Streams) {
	_, _ = io.WriteString(s.Err, cli.Problems(c.Problems, cli.StyleOf(s.Err)))
}

// readFacts reads recorded facts; without a file nothing is known.
func readFacts(s cli.Streams, name string) (facts.Facts, error) {
	if name == "" {
		return facts.Facts{}, nil
	}
	data, err := readInput(s, name)
	if err != nil {
		return facts.Facts{}, err
	}
	f, err := facts.Parse(data)
	if err != nil {
		return facts.Facts{}, failed("%s: %w", title(name), err)
	}
	return f, nil
}

// oneStdin refuses to read standard input twice.
func oneStdin(names ...string) error {
	n := 0
	for _, name := range names {
		if name == stdin {
			n++
		}
	}
	if n > 1 {
		return cli.Usage("put one of the two in a file", "standard input can be read only once")
	}
	return nil
}

// write writes a document to standard output.
func write(s cli.Streams, text string) error {
	if _, err := io.WriteString(s.Out, text); err != nil {
		return failed("standard output: %w", pathless(err))
	}
	return nil
}

// writeJSON writes a document to standard output as JSON.
func writeJSON(s cli.Streams, v any) error {
	if err := cli.WriteJSON(s.Out, v); err != nil {
		return failed("standard output: %w", pathless(err))
	}
	return nil
}

// pathless takes operation and path out of an error that is about a file.
func pathless(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
