package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/status"
)

func (a *app) apply() *cobra.Command {
	opts := agent.ChangeOptions{Origin: generation.Apply}
	var (
		meant         command.Node
		factsPath     string
		allow, output command.Choice
	)
	cmd := &cobra.Command{
		Use:   "apply -f CONFIG [flags]",
		Short: "Apply a contract to the running node",
		Long: `Compare the contract with the node, show the difference and what it takes, apply it, and check
that the node is well: its units run, the container runtime answers, the kubelet is healthy and
renews its Node's lease. If the node is not well, it is rolled back to the last good generation.

A change that takes more than a restart of units is refused, unless --allow names it: drain, reboot
and replace are what you have to do as well. A node that matches the contract is not touched.`,
		Example: `  slipway-node apply -f node.yaml --dry-run
  slipway-node apply -f node.yaml
  slipway-node apply -f node.yaml --try 5m && slipway-node confirm`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if opts.Config == "" {
				return cli.Usage(command.Hint(cmd), "no contract is given: name it with -f FILE")
			}
			if opts.Try != 0 && opts.Try < time.Second {
				return cli.Usage(command.Hint(cmd), "--try must be at least 1s, not %s", opts.Try)
			}
			if opts.Config, opts.Contract, err = a.contractOf(cmd.Context(), opts.Config); err != nil {
				return err
			}
			if opts.Facts, err = readFacts(factsPath); err != nil {
				return err
			}
			if opts.Reading, err = readingOf(meant); err != nil {
				return err
			}
			if opts.Allow, err = difference.ParseClass(allow.Value); err != nil {
				return err
			}
			opts.Show = a.showing(output.Value, opts.Allow, opts.DryRun)
			node, err := a.changing()
			if err != nil {
				return err
			}
			opts.Waiting = a.waiting
			changed := node.Change(cmd.Context(), opts)
			if opts.DryRun {
				return a.showDryRun(changed, opts.Allow, output.Value)
			}
			if err := a.showChanged(changed, asContract, output.Value); err != nil || changed.ConfirmBy.IsZero() || output.Value == command.AsJSON {
				return err
			}
			return command.Write(a.Streams, fmt.Sprintf("It is rolled back at %s UTC unless you run: slipway-node confirm\n",
				changed.ConfirmBy.UTC().Format(time.TimeOnly)))
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.Config, "file", "f", "", "read the contract from `PATH`, or from standard input with -")
	flags.BoolVar(&opts.DryRun, "dry-run", false, "show the difference and what it takes; change nothing")
	flags.DurationVar(&opts.Try, "try", 0, "roll the change back `DURATION` after it is made, unless you run slipway-node confirm")
	flags.DurationVar(&opts.Deadline, "timeout", 0, "wait up to `DURATION` for the change and its checks (default: what the contract says)")
	flags.BoolVar(&opts.Force, "force", false, "apply a contract even if its revision is lower than the node's")
	flags.StringVar(&factsPath, "facts", "", "plan for the machine that `FILE` describes (JSON of slipway-node facts), not for this one")
	addAllow(cmd, &allow)
	command.AddNode(cmd, &meant)
	command.AddAllowUnapplied(cmd, &opts.AllowUnapplied)
	command.AddOutput(cmd, &output)
	return cmd
}

// contractOf returns the path of the contract, or the contract itself if it comes from standard input. Reading ends
// when ctx is done.
func (a *app) contractOf(ctx context.Context, path string) (string, *source.Contract, error) {
	if path != "-" {
		path, err := absolute(path)
		return path, nil, err
	}
	type content struct {
		data []byte
		err  error
	}
	read := make(chan content, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.In, document.MaxBytes+1))
		read <- content{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", nil, exitWith(exitcode.Interrupted, fmt.Errorf("standard input: %w", context.Cause(ctx)))
	case c := <-read:
		switch {
		case c.err != nil:
			return "", nil, command.Failed("standard input: %w", command.Pathless(c.err))
		case len(c.data) > document.MaxBytes:
			return "", nil, command.Failed("standard input is larger than the limit of %d bytes for a contract", document.MaxBytes)
		}
		return standardInput, &source.Contract{Path: standardInput, Data: c.data, Source: source.FileSource}, nil
	}
}

// standardInput replaces the path of a contract from standard input.
const standardInput = "standard input"

// addAllow adds the flag for the allowed classes of change.
func addAllow(cmd *cobra.Command, allow *command.Choice) {
	*allow = command.Choice{Value: difference.Restart.String(), Allowed: difference.Classes()}
	cmd.Flags().Var(allow, "allow", "allow changes up to `CLASS`: "+cli.List(allow.Allowed, "or"))
	command.CompleteWith(cmd, "allow", allow.Allowed...)
}

// showing returns a function that shows a difference before the change. It returns nil for JSON, where everything is
// one document. At a terminal, the user sees what the command waits for.
func (a *app) showing(form string, allow difference.Class, dryRun bool) func(*difference.Difference) {
	if form == command.AsJSON {
		return nil
	}
	return func(d *difference.Difference) {
		// A write error is no reason not to change the node.
		_ = command.Write(a.Streams, d.Text(cli.StyleOf(a.Out)))
		if !d.Same && !dryRun && d.Class <= allow && cli.IsTerminal(a.Err) {
			fmt.Fprintln(a.Err, "Applying the change, then checking the node; this takes some seconds ...")
		}
	}
}

// changedDocument is a change as JSON.
type changedDocument struct {
	Difference *difference.Difference `json:"difference,omitempty"`
	Status     *status.Status         `json:"status"`
	// ConfirmBy is when the change is rolled back unless the user confirms it.
	ConfirmBy time.Time `json:"confirmBy,omitzero"`
}

// waiting prints that the API server is asked, and for how long.
func (a *app) waiting(server string, upTo time.Duration) {
	fmt.Fprintf(a.Err, "The change is made. Waiting up to %s until API server %s sees that the node is well.\n", upTo, server)
}

// The messages of an apply and of a rollback with nothing to do.
const (
	asContract   = "The machine matches its contract, generation %d."
	asGeneration = "The machine already is as generation %d says."
)

// showDryRun prints what a change would do.
func (a *app) showDryRun(changed agent.Changed, allow difference.Class, form string) error {
	if changed.Status.ExitCode != 0 || form == command.AsJSON {
		return a.showChanged(changed, asContract, form)
	}
	text := "Dry run: nothing was changed.\n"
	switch d := changed.Difference; {
	case d.Same:
		text = "Dry run: nothing would change.\n"
	case d.Class > allow:
		text = fmt.Sprintf("Dry run: nothing was changed. The change is refused without --allow %s.\n", d.Class)
	}
	return command.Write(a.Streams, text)
}

// showChanged prints the outcome of a change, and ends with its exit code. unchanged is the message if there was
// nothing to do; it has a verb for the generation's number.
func (a *app) showChanged(changed agent.Changed, unchanged, form string) error {
	s := changed.Status
	switch {
	case form == command.AsJSON:
		if err := command.WriteJSON(a.Streams, changedDocument{changed.Difference, s, changed.ConfirmBy}); err != nil {
			return err
		}
	case changed.Refused != "":
		return exitWith(s.ExitCode, fmt.Errorf("refused: %s", changed.Refused))
	case s.ExitCode != 0:
		s.Print(a.Out, cli.StyleOf(a.Out) != cli.Style{})
	case len(s.Changes) == 0:
		return command.Write(a.Streams, fmt.Sprintf(unchanged+" Nothing was changed.\n", s.Generation))
	default:
		well := " and the node is well"
		if !changed.Checked {
			well = "; whether the node is well was not checked"
		}
		return command.Write(a.Streams, fmt.Sprintf("Generation %d is applied%s: %d changed, %d unchanged, %.1f s.\n",
			s.Generation, well, len(s.Changes), s.Unchanged, float64(s.DurationMs)/1000))
	}
	return exitWith(s.ExitCode, nil)
}
