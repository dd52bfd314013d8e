package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/command"
)

func (a *app) status() *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show what came of the last provisioning",
		Long: `Show the outcome of the last provisioning, what went wrong and what to do about it, how long
each step took, and what was changed. The exit code is the provisioning's.`,
		Example: `  slipway-node status
  slipway-node status -o json
  slipway-node status --root ./out/node`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			node, err := a.agent()
			if err != nil {
				return err
			}
			last, err := node.LastStatus()
			if err != nil {
				return command.Failed("%w", err)
			}
			return a.show(last, output.Value)
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}
