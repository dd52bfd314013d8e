package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

func newVersion(s cli.Streams) *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version",
		Long:    "Print the version of this program, the commit it was built from, and the Go version that built it.",
		Example: "  slipway version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if output.value == asJSON {
				return writeJSON(s, cli.BuildInfo())
			}
			return write(s, program+" "+cli.BuildInfo().String()+"\n")
		},
	}
	addOutput(cmd, &output)
	return cmd
}
