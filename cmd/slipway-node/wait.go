package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/command"
)

func (a *app) provisionWait() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "provision-wait [flags]",
		Short: "Wait until provisioning has ended, and print its result",
		Long: `Wait for the marker provision.complete, print provision.json, and exit with the exit code of the
provisioning. Azure's custom script extension runs this command.

Times that are known only later, such as the guest agent's start, are added to what is printed.`,
		Example: `  slipway-node provision-wait
  slipway-node provision-wait --timeout 15m`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := a.agent()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			document, code, err := node.Wait(ctx)
			if err := command.Write(a.Streams, string(document)); err != nil {
				return err
			}
			return exitWith(code, err)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "wait up to `DURATION`, such as 15m; 0 waits forever")
	return cmd
}
