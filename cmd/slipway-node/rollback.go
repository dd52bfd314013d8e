package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/difference"
)

func (a *app) rollback() *cobra.Command {
	var (
		opts          agent.RollbackOptions
		allow, output command.Choice
		until         int64
	)
	cmd := &cobra.Command{
		Use:   "rollback [GENERATION] [flags]",
		Short: "Restore an earlier generation of the node",
		Long: `Restore an earlier generation: everything that it had, also what has been removed since. Without a
number it is the last good generation that differs from the current one. What is restored becomes
a new generation with a new number. It stays after a reboot.

"slipway-node status --generations" lists the generations that are kept.`,
		Example: `  slipway-node rollback
  slipway-node rollback 3 --dry-run`,
		Args: command.Arguments(0, 1, "one generation"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				if opts.Number, err = strconv.Atoi(args[0]); err != nil || opts.Number < 1 {
					return cli.Usage(command.Hint(cmd), "%q is not a generation: name a number, 1 or higher", args[0])
				}
			}
			if until > 0 {
				opts.Until = time.Unix(until, 0)
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
			changed := node.Rollback(cmd.Context(), opts)
			if opts.DryRun {
				return a.showDryRun(changed, opts.Allow, output.Value)
			}
			return a.showChanged(changed, asGeneration, output.Value)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.DryRun, "dry-run", false, "show the difference and what it takes; change nothing")
	flags.IntVar(&opts.Unconfirmed, "unconfirmed", 0, "go back if generation `N` is the current one and is not confirmed")
	flags.Int64Var(&until, "until", 0, "go back only if it waited for that until `SECONDS` since 1970")
	command.Must(flags.MarkHidden("unconfirmed"))
	command.Must(flags.MarkHidden("until"))
	addAllow(cmd, &allow)
	command.AddOutput(cmd, &output)
	return cmd
}

func (a *app) confirm() *cobra.Command {
	return &cobra.Command{
		Use:     "confirm",
		Short:   "Keep what apply --try has applied",
		Long:    `Keep what "slipway-node apply --try" has applied. Without it the change is rolled back.`,
		Example: `  slipway-node apply -f node.yaml --try 5m && slipway-node confirm`,
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := a.changing()
			if err != nil {
				return err
			}
			kept, err := node.Confirm(cmd.Context())
			if err != nil {
				return command.Failed("%w", err)
			}
			return command.Write(a.Streams, fmt.Sprintf("Generation %d is confirmed and stays.\n", kept.Number))
		},
	}
}
