package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

func (a *app) status() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what came of the last provisioning",
		Long: `Shows the outcome of the last provisioning, what went wrong and what to do about it, how long each
step took, and what was changed. The exit code is the provisioning's.`,
		Example: `  slipway-node status
  slipway-node status -o json
  slipway-node status --root ./out/node`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			node, err := a.agent()
			if err != nil {
				return err
			}
			last, err := node.LastStatus()
			if err != nil {
				return err
			}
			if output == outputJSON {
				document, err := last.Marshal()
				if err != nil {
					return err
				}
				_, err = a.stdout.Write(document)
				return exitWith(last.ExitCode, err)
			}
			last.Print(a.stdout, cli.StyleOf(a.stdout) != (cli.Style{}))
			return exitWith(last.ExitCode, nil)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}
