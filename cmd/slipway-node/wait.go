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
		Short: "Wait until a provisioning has ended, and print its result",
		Long: `Wait until the marker provision.complete is there, print provision.json on standard output, and
exit with the provisioning's own exit code. It is what Azure's custom script extension runs.

Times that were not known when the result was written, such as the guest agent's start, are
filled in.`,
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
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after `DURATION`, such as 15m; 0 waits for ever")
	return cmd
}
