package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

const program = "slipway-azure-detect"

// run runs the command line and returns its exit code.
func run(ctx context.Context, args []string, s cli.Streams, w world) int {
	return command.Run(ctx, func(s cli.Streams) *cobra.Command { return newRoot(s, w) }, args, s)
}

func newRoot(s cli.Streams, w world) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Find out what slipway launch needs to know of a cluster and a region",
		Long: `Find out what slipway launch needs to know of a cluster and a region, and write it as JSON.

Azure is asked with the credential that is found first: environment variables, workload identity, managed
identity, or that of az login. Nothing is changed. A fact that cannot be found is an error, and with any error
nothing is written; with --partial the other facts are written, and what is missing is a warning.

Exit codes: 0 success, 1 something could not be found out, 64 wrong usage.`,
		Example: `  slipway-azure-detect cluster --subscription ID --resource-group example-rg --name example --out detected.json
  slipway-azure-detect images --subscription ID --location eastus --out images.json
  slipway launch --cluster detected.json --images images.json --settings settings.yaml --nodepool nodepool.yaml --instance-type Standard_D4ds_v5`,
	}
	root.AddCommand(newCluster(s, w), newImages(s, w))
	command.Prepare(root, s)
	return root
}
