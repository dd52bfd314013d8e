package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
)

func newDiff(s cli.Streams) *cobra.Command {
	var (
		output    command.Choice
		factsFile string
		node      command.Node
		family    command.Choice
	)
	cmd := &cobra.Command{
		Use:   "diff A B [flags]",
		Short: "Show how the nodes of two contracts differ",
		Long: `Show how two nodes differ: which resources are added, removed or changed from A to B. Changed
files are shown as unified diffs. A and B are contracts, or plans that "slipway plan -o json"
wrote.

It compares what the machine will have and what restarts. It does not compare the order of things
or the reasons for them. For a secret file it shows only that it differs.

Each change has a class. It says what the change takes on a running node: none, reload, restart,
drain, reboot or replace. The last line has the class of all changes together.

Exit codes are those of diff(1): 0 no difference, 1 a difference, 2 trouble; and 64 wrong usage.`,
		Example: `  slipway diff old.yaml new.yaml
  slipway plan -f node.yaml -o json >before.json && vi node.yaml && slipway diff before.json node.yaml`,
		Args: command.Arguments(2, 2, "two documents"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := compareInputs(s, args[0], args[1], factsFile, node, family.Value)
			if err != nil {
				return command.Trouble(err)
			}
			return command.Compared(command.Print(s, output.Value, c, func(style cli.Style) string { return diffText(c, style) }), c.Same)
		},
	}
	addFacts(cmd, &factsFile)
	command.AddNode(cmd, &node)
	addProfile(cmd, &family)
	command.AddOutput(cmd, &output)
	return cmd
}

func compareInputs(s cli.Streams, a, b, factsFile string, node command.Node, family string) (*comparison, error) {
	as, err := readingOf(s, node, a, b, factsFile)
	if err != nil {
		return nil, err
	}
	as.Profile = family
	f, err := readFacts(s, factsFile)
	if err != nil {
		return nil, err
	}
	from, err := readSide(s, a, f, as)
	if err != nil {
		return nil, err
	}
	to, err := readSide(s, b, f, as)
	if err != nil {
		return nil, err
	}
	d, err := difference.Of(from.plan, to.plan)
	if err != nil {
		return nil, err
	}
	return &comparison{from, to, d}, nil
}

// comparison is the difference between two plans, with their names, also in JSON. It holds no secret.
type comparison struct {
	A side `json:"a"`
	B side `json:"b"`
	*difference.Difference
}

// side is one of the two compared plans.
type side struct {
	File    string `json:"file"`
	Dialect string `json:"dialect"`
	Config  string `json:"config"`
	plan    resource.Plan
}

// readSide reads a plan, or reads a contract and plans it.
func readSide(s cli.Streams, name string, f facts.Facts, as compile.Reading) (side, error) {
	data, err := command.ReadInput(s, name)
	if err != nil {
		return side{}, err
	}
	var kind struct {
		Kind string `json:"kind"`
	}
	var made resource.Plan
	if json.Unmarshal(data, &kind) == nil && kind.Kind == resource.PlanKind {
		if err := json.Unmarshal(data, &made); err != nil {
			return side{}, command.Failed("%s: %w", command.Title(name), err)
		}
		return side{name, made.Dialect, made.Config, made}, nil
	}
	c := decode(name, data, as)
	made = c.plan(f)
	if err := c.require(s); err != nil {
		return side{}, err
	}
	return side{name, made.Dialect, made.Config, made}, nil
}
