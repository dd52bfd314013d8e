package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/command"
)

// hotfixes are commands of AKS's program that the launcher on AKS's images calls before provision: they look for a
// newer package of that program, and install it (AKS: aks-node-controller-launcher.sh). Without an answer, the launcher
// logs a failure on each node. Like AKS's, check-hotfix ignores arguments, because it must never fail.
func (a *app) hotfixes() []*cobra.Command {
	return []*cobra.Command{
		a.notApplicable("check-hotfix", cobra.ArbitraryArgs),
		a.notApplicable("download-hotfix", command.NoArguments),
	}
}

// notApplicable is a command of AKS's program that does nothing here, and succeeds.
func (a *app) notApplicable(name string, args cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use:   name + " [flags]",
		Short: "Do nothing: a hotfix of AKS's program is not for this one",
		Long: `Do nothing, and succeed. AKS's images call this command of AKS's own program, which looks for a newer
package of that program. This program comes with the image, or is updated as you deliver it.`,
		Example: "  aks-node-controller " + name,
		Hidden:  true,
		Args:    args,
		RunE: func(*cobra.Command, []string) error {
			return command.Write(a.Streams, name+": not applicable here: a hotfix of AKS's program is not for Slipway\n")
		},
	}
}
