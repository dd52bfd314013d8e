package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

const outputJSON = "json"

func outputFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "print as `format`: text or json")
	complete(cmd, "output", "text", outputJSON)
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

func exitWith(code int, err error) error {
	if code == 0 && err == nil {
		return nil
	}
	return &cli.Error{Code: code, Err: err}
}

func (a *app) version() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  slipway-node version -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			build := cli.BuildInfo()
			if output == outputJSON {
				return cli.WriteJSON(a.stdout, build)
			}
			fmt.Fprintln(a.stdout, build)
			return nil
		},
	}
	outputFlag(cmd, &output)
	return cmd
}
