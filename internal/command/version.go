package command

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

func version(s cli.Streams) *cobra.Command {
	var output Choice
	cmd := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version",
		Long:    "Print the version of this program, the commit it was built from, and the Go version that built it.",
		Example: "  slipway version -o json\n  slipway-node version",
		Args:    NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd, s, output.Value) },
	}
	AddOutput(cmd, &output)
	return cmd
}

func printVersion(cmd *cobra.Command, s cli.Streams, form string) error {
	build := cli.BuildInfo()
	return Print(s, form, build, func(cli.Style) string { return cmd.Root().Name() + " " + build.String() + "\n" })
}
