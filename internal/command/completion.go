package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

// shells are the shells with a completion script.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
}

func completion(s cli.Streams) *cobra.Command {
	var names []string
	for _, shell := range shells {
		names = append(names, shell.name)
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a shell's completion script",
		Long:  "Print the script that lets a shell complete commands, flags and their values.",
		Example: `  source <(slipway completion bash)
  slipway-node completion zsh >"${fpath[1]}/_slipway-node"`,
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, shell := range shells {
				if len(args) == 1 && args[0] == shell.name {
					if err := shell.write(cmd.Root(), s.Out); err != nil {
						return Failed("standard output: %w", Pathless(err))
					}
					return nil
				}
			}
			return cli.Usage(Hint(cmd), "name one shell: %s", cli.List(names, "or"))
		},
	}
}
