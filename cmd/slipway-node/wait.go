package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) provisionWait() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "provision-wait",
		Short: "Wait until a provisioning has ended, and print its result",
		Long: `Waits until the marker provision.complete exists, prints provision.json on stdout and exits with
the provisioning's own exit code. It is what Azure's custom script extension runs.`,
		Example: `  slipway-node provision-wait
  slipway-node provision-wait --timeout 15m`,
		Args: cobra.NoArgs,
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
			fmt.Fprintf(a.stdout, "%s", document)
			return exitWith(code, err)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this `duration`, such as 15m; 0 waits for ever")
	return cmd
}
