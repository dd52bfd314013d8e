package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func newValidate(s cli.Streams) *cobra.Command {
	var (
		from   source
		output command.Choice
		// factsFile has the facts of the contract's machine.
		factsFile string
	)
	cmd := &cobra.Command{
		Use:   "validate -f CONFIG [flags]",
		Short: "Report everything that is wrong with a contract",
		Long: `Report everything that is wrong with a contract, errors first.

An error means that the contract cannot make a node: the agent stops before it changes
anything. A warning means that one part is left out or not applied; the rest is used. The report
goes to standard output. The exit code is 1 if there is an error, and with --strict also if
there is a warning; otherwise it is 0.

Several contracts are merged: a later one goes before an earlier one, maps are merged by their
keys, and a list replaces a list.

With the facts of a machine it also says where the machine has other versions of components than
the contract wants.`,
		Example: `  slipway validate -f node.yaml
  slipway validate -f node.yaml --strict
  slipway validate -f node.yaml --facts facts.json
  slipway validate -f node.yaml -f pool.yaml
  slipway validate -f - -o json <node.yaml`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			c, _, err := from.planned(s, factsFile)
			if err != nil {
				return err
			}
			err = command.Print(s, output.Value, report{c.name, c.Dialect, c.valid(), append([]nodeconfig.Problem{}, c.Problems...)}, func(style cli.Style) string { return reportText(c, style) })
			if err == nil && c.refused() {
				err = cli.Quit(exitcode.Invalid)
			}
			return err
		},
	}
	from.add(cmd)
	from.addPolicy(cmd)
	addFacts(cmd, &factsFile)
	command.AddOutput(cmd, &output)
	return cmd
}

// report is the result of validate, as JSON.
type report struct {
	File     string               `json:"file"`
	Dialect  string               `json:"dialect"`
	Valid    bool                 `json:"valid"`
	Problems []nodeconfig.Problem `json:"problems"`
}

func reportText(c *contract, style cli.Style) string {
	text := cli.Problems(c.place(), c.Problems, style)
	if text != "" {
		text += "\n"
	}
	name := cli.Line(command.Title(c.name))
	if !c.valid() {
		return text + style.Bold(name) + ": " + style.Red("not valid") + ", " + cli.CountProblems(c.Problems) + "\n"
	}
	text += style.Bold(name) + ": " + style.Green("valid") + " " + c.inWords() + ", " + cli.CountProblems(c.Problems)
	if c.refused() {
		text += style.Red(", and --strict allows none")
	}
	return text + "\n"
}
