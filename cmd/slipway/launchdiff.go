package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// launchDiff is the difference between a running node and the wanted one, as JSON.
type launchDiff struct {
	Same bool `json:"same"`
	*launch.Comparison
}

func newLaunchDiff(s cli.Streams) *cobra.Command {
	var l launching
	cmd := &cobra.Command{
		Use:   "diff RECORD --settings S --nodepool P --nodeclass C --nodeclaim M --instance-type T",
		Short: "Show how a running node differs from the one that would be launched now",
		Long: `Show how a running node differs from the one that would be launched now. RECORD is what "slipway launch
-o json" has written, or the annotation slipway.dev/launch-record of a node claim. Each difference has a
class. It says what it takes: refresh (the next launch has it), in place or replace. Where the node
itself changes, its own class is shown as well, as "slipway diff" has it: reload, restart, drain or
reboot, with the units that restart.

What differs is what the inputs say. Another spelling of the same value is no difference, and neither is
what another release of Slipway chooses by itself, unless the class names it in spec.driftOnRelease.

Exit codes are those of diff(1): 0 no difference, 1 a difference, 2 trouble; and 64 wrong usage. A record
that is damaged, of another version or of another cluster is trouble: it does not say how that node was
made.`,
		Example: `  slipway launch diff running.json --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml
  kubectl get nodeclaim general-abcde -o jsonpath='{.metadata.annotations.slipway\.dev/launch-record}' >running.record`,
		Args: command.Arguments(1, 1, "one record"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := l.compare(s, args[0])
			if err != nil {
				return command.Trouble(err)
			}
			d := launchDiff{Same: len(c.Changes) == 0, Comparison: c}
			return command.Compared(command.Print(s, l.output.Value, d, d.text), d.Same)
		},
	}
	l.inputs(cmd)
	command.AddOutput(cmd, &l.output)
	return cmd
}

// compare compares the node of a record with the one that would be launched now.
func (l *launching) compare(s cli.Streams, name string) (*launch.Comparison, error) {
	if err := l.read(s); err != nil {
		return nil, err
	}
	data, err := command.ReadInput(s, name)
	if err != nil {
		return nil, err
	}
	record, err := launch.ParseRecord(data)
	if err != nil {
		return nil, command.Failed("%s: %w", command.Title(name), err)
	}
	wanted := launch.Render(&l.cloud, l.request)
	l.problems = append(l.problems, l.inClass(l.ofClass)...).Join(l.inClass(wanted.Problems())...)
	if len(nodeconfig.Fatal(l.problems)) > 0 {
		return nil, l.refuse(s, nil)
	}
	c, err := launch.Compare(record, wanted)
	if err != nil {
		return nil, command.Failed("%s: %w", command.Title(name), err)
	}
	c.Changes = append([]launch.Change{}, c.Changes...) // so that JSON has a list, also if it is empty
	return c, nil
}

// text formats the difference for people. It is empty if there is no difference.
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
