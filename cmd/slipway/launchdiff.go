package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch"
)

// launchDiff is how a running node differs from the wanted one, as JSON.
type launchDiff struct {
	Same bool `json:"same"`
	*launch.Comparison
}

func newLaunchDiff(s cli.Streams) *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "diff RUNNING WANTED [flags]",
		Short: "Show how a running node differs from the one that is wanted",
		Long: `Show how a running node differs from the one that is wanted: both are what "slipway launch -o json" has
written. Each difference has a class. It says what it takes: ignore, refresh (the next launch has it),
in place or replace. Where the node itself changes, its own class is shown as well, as "slipway diff" has
it: reload, restart, drain or reboot, with the units that restart.

Exit codes are those of diff(1): 0 no difference, 1 a difference, 2 trouble; and 64 wrong usage. A record
that is damaged, or of another version, is trouble: nobody knows how that node was made.`,
		Example: `  slipway launch diff running.json wanted.json`,
		Args:    command.Arguments(2, 2, "two records"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneStdin(args...); err != nil {
				return err
			}
			var records [2]*launch.Record
			for i, name := range args {
				data, err := readInput(s, name)
				if err != nil {
					return trouble(err)
				}
				if records[i], err = launch.ParseRecord(data); err != nil {
					return trouble(command.Failed("%s: %w", title(name), err))
				}
			}
			c, err := launch.CompareRecords(records[0], records[1])
			if err != nil {
				return trouble(err)
			}
			c.Changes = append([]launch.Change{}, c.Changes...) // a list in JSON, also if it is empty
			d := launchDiff{Same: len(c.Changes) == 0, Comparison: c}
			return compared(command.Print(s, output.Value, d, d.text), d.Same)
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

// text is the difference for people; nothing where there is none.
func (d *launchDiff) text(style cli.Style) string {
	if d.Same {
		return ""
	}
	table := cli.Table{Widest: shownValue}
	for _, c := range d.Changes {
		table.Row(
			cli.Cell{Text: string(c.Class), Paint: style.Bold}, cli.Cell{Text: c.Path},
			cli.Cell{Text: cli.Shorten(c.Old, shownValue), Paint: style.Red}, cli.Cell{Text: cli.Shorten(c.New, shownValue), Paint: style.Green},
			cli.Cell{Text: c.Reason, Paint: style.Dim},
		)
	}
	text := table.String() + "class: " + string(d.Class) + "\n"
	if d.Node != nil {
		units := "nothing restarts"
		if len(d.Node.Restarts) > 0 {
			units = "restarts " + strings.Join(d.Node.Restarts, ", ")
		}
		text += "on the node: " + d.Node.Class.String() + "; " + units + "\n"
	}
	return text
}
