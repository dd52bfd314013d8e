package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/doctor"
)

// The exit codes of doctor, by what it concludes.
var healthCodes = map[doctor.Health]int{doctor.Healthy: 0, doctor.Sick: 1, doctor.NotKnown: 2}

func (a *app) doctor() *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Find out why the machine is not a Ready node",
		Long: `Find out why the machine is not a Ready node: check its clock, disks, kernel, units, network, cloud,
container runtime, kubelet, credential and Node. Each fault has one verdict, with what was tried, and the
next step. What follows from a fault is not looked at.

It changes nothing, needs no cluster, and works before the machine has joined as after, also on nodes that
Slipway has not made. With --root it checks what the files of a directory show.

The exit code is 0 if the machine is healthy, 1 if it is sick, and 2 if that is not known.
-o json prints everything that was tried.`,
		Example: `  slipway-node doctor
  slipway-node doctor -o json >doctor.json
  slipway-node doctor --root ./out/node`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.root == "" && os.Geteuid() != 0 {
				return a.failed(errors.New("only root can examine the machine; --root DIR examines a directory"))
			}
			machine, err := a.opened()
			if err != nil {
				return a.failed(err)
			}
			defer machine.Close()
			patient := a.observer(machine).Patient()
			patient.Waiting = func(checks []string) { fmt.Fprintf(a.Err, "still looking at: %s\n", strings.Join(checks, ", ")) }
			report := doctor.Examine(cmd.Context(), doctor.Checks, patient)
			err = command.Print(a.Streams, output.Value, report, func(style cli.Style) string { return doctorText(report, style) })
			if code := healthCodes[report.Health]; err == nil && code != 0 {
				return cli.Quit(code)
			}
			return err
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

// doctorText formats a report for people: the verdicts, and then all checks.
func doctorText(report *doctor.Report, style cli.Style) string {
	var text strings.Builder
	wrong := report.Wrong()
	switch report.Health {
	case doctor.Healthy:
		text.WriteString(style.Green("healthy: no check has found a fault") + "\n")
	case doctor.NotKnown:
		text.WriteString(style.Yellow("not known: no check has found a fault, and some could not look") + "\n")
	default:
		text.WriteString(style.Red("sick: "+cli.Plural(len(wrong), "fault")) + "\n")
	}
	for _, result := range wrong {
		text.WriteString("\n" + hanging(style.Red(result.Check)+": ", len(result.Check)+2, result.Verdict, style.Width()))
		if result.Action != "" {
			text.WriteString(hanging("  next step: ", len("  next step: "), result.Action, style.Width()))
		}
	}
	text.WriteString(checksText(report.Checks, style))
	return text.String()
}

// stateStyles colour the states. A fine check is what a reader can skip.
var stateStyles = map[doctor.State]func(cli.Style, string) string{
	doctor.Fine: cli.Style.Green, doctor.Wrong: cli.Style.Red, doctor.Skipped: cli.Style.Dim, doctor.Unknown: cli.Style.Yellow,
}

// checksText is the table of all checks.
func checksText(checks []doctor.Result, style cli.Style) string {
	names, states := 0, 0
	for _, result := range checks {
		names, states = max(names, len(result.Check)), max(states, len(result.State))
	}
	var text strings.Builder
	for i, result := range checks {
		if i == 0 || result.Group != checks[i-1].Group {
			text.WriteString("\n" + style.Bold(result.Group) + "\n")
		}
		state := stateStyles[result.State](style, string(result.State)) + strings.Repeat(" ", states-len(result.State))
		head := fmt.Sprintf("  %-*s  %s  ", names, result.Check, state)
		text.WriteString(hanging(head, names+states+6, result.Verdict, style.Width()))
	}
	return text.String()
}

// hanging breaks a text into lines of at most width columns. The first one begins with head, which takes indent columns; the others are
// indented by them, if enough of the width is left.
func hanging(head string, indent int, text string, width int) string {
	lines := cli.Wrap(cli.Line(text), max(width-indent, width/3))
	if len(lines) == 0 {
		return strings.TrimRight(head, " ") + "\n"
	}
	return head + strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n"
}
