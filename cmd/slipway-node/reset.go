package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

func (a *app) reset() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "reset --yes",
		Short: "Undo what Slipway has made of the machine",
		Long: `Stop the units that Slipway has brought, remove its files, and restore what was there before it.
The machine is no node any more. Drain the node and delete it from the cluster first, and disable
Slipway's services, or they make the machine a node again: docs/uninstall.md has each step.`,
		Example: "  slipway-node reset --yes",
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return cli.Usage("add --yes to reset it", "this machine would be no node any more")
			}
			node, err := a.changing()
			if err != nil {
				return err
			}
			changes, err := node.Reset(cmd.Context())
			if err != nil {
				return command.Failed("%w", err)
			}
			return command.Write(a.Streams, fmt.Sprintf("The machine is reset: %d changed.\n", len(changes)))
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "reset the machine; without it nothing is done")
	return cmd
}
