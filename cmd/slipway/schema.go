package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/schema"
)

func newSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [DIALECT|image-components|image-lock|timeline]",
		Short: "Print the JSON Schema of a contract, or of another document",
		Long: `Print the JSON Schema (draft 2020-12) of the documents of a dialect. The dialects are:

` + listOfDialects() + `
Editors use it to check and complete a document. It knows names, types and allowed values;
"slipway validate" checks everything else.

"image-components" is the schema of components.yaml, and "image-lock" that of its lock; see "slipway
image". "timeline" is the schema of what "slipway anatomy -o json" prints.`,
		Example: `  slipway schema native >slipway.schema.json
  # then, as the first line of a contract, for editors with a YAML language server:
  # yaml-language-server: $schema=slipway.schema.json`,
		ValidArgs: schemaNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := dialect.Native
			if len(args) > 0 {
				name = args[0]
			}
			document, ok := schema.Get(name)
			if !ok || len(args) > 1 {
				return cli.Usage(command.Hint(cmd), "name one schema: %s", cli.List(schemaNames(), "or"))
			}
			return command.Write(s, string(document))
		},
	}
}

// schemaNames are the names of all schemas.
func schemaNames() []string {
	return append(dialect.Names(), schema.ImageComponents, schema.ImageLock, schema.Timeline)
}

// listOfDialects has a line for each dialect, with its title.
func listOfDialects() string {
	var out strings.Builder
	for _, d := range dialect.All() {
		fmt.Fprintf(&out, "  %-8s %s\n", d.Name, strings.ReplaceAll(d.Title, "`", ""))
	}
	return out.String()
}
