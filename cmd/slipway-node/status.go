package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

func (a *app) status() *cobra.Command {
	var (
		output             command.Choice
		generations, drift bool
	)
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show the result of the last provisioning",
		Long: `Show the result of the last provisioning: what went wrong and what to do about it, how long each
step took, and what was changed. The exit code is that of the provisioning.

--generations lists the generations of this machine, the newest first. --drift compares the machine
with its current generation; the exit code is 1 if they differ.`,
		Example: `  slipway-node status
  slipway-node status -o json
  slipway-node status --generations
  slipway-node status --drift
  slipway-node status --root ./out/node`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := a.agent()
			if err != nil {
				return err
			}
			switch {
			case generations:
				return a.showGenerations(node, output.Value)
			case drift:
				changes, d, err := node.DriftDifference(cmd.Context())
				if err != nil {
					return command.Failed("%w", err)
				}
				return a.showDrift(changes, d, output.Value)
			}
			last, err := node.LastStatus()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return a.showNotRun(output.Value)
			case err != nil:
				return command.Failed("%w", err)
			}
			node.RefreshPending(cmd.Context(), last)
			shown := a.show(last, output.Value)
			if output.Value == command.AsText {
				if err := a.showCurrent(node); err != nil {
					return err
				}
			}
			return shown
		},
	}
	cmd.Flags().BoolVar(&generations, "generations", false, "list the generations of this machine")
	cmd.Flags().BoolVar(&drift, "drift", false, "show changes that the agent did not make")
	cmd.MarkFlagsMutuallyExclusive("generations", "drift")
	command.AddOutput(cmd, &output)
	return cmd
}

// showNotRun prints that no provisioning has ended. The exit code means that there is no result.
func (a *app) showNotRun(form string) error {
	result := struct {
		Outcome string `json:"outcome"`
	}{"not run"}
	err := command.Print(a.Streams, form, result, func(cli.Style) string {
		return "not run: no provisioning has ended on this machine\n" + a.family.Agent.Called + " provision makes it a node\n"
	})
	return exitWith(exitcode.Invalid, err)
}
