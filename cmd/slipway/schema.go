package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/schema"
)

func newSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [native|aks|eksctl|kubeadm]",
		Short: "Print the JSON Schema of a contract",
		Long: `Print the JSON Schema (draft 2020-12) of the native contract, of AKS's, of what is read of
eksctl's ClusterConfig, or of kubeadm's JoinConfiguration and a kubeconfig.

Editors use it to check and complete a document. It knows names, types and allowed values;
"slipway validate" checks everything else.`,
		Example: `  slipway schema native >slipway.schema.json
  # then, as the first line of a contract, for editors with a YAML language server:
  # yaml-language-server: $schema=slipway.schema.json`,
		ValidArgs: schema.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := schema.Native
			if len(args) > 0 {
				name = args[0]
			}
			document, ok := schema.Get(name)
			if !ok || len(args) > 1 {
				return cli.Usage(command.Hint(cmd), "name one schema: %s", cli.List(schema.Names(), "or"))
			}
			return command.Write(s, string(document))
		},
	}
}
