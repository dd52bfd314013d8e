package main

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The names of setting sources that are not files.
const (
	fromEnvironment = "env"
	fromConfigMap   = "configmap"
)

// launchSettings is the result of launch settings as JSON.
type launchSettings struct {
	Settings []azure.Option       `json:"settings"`
	Problems []nodeconfig.Problem `json:"problems"`
}

func newLaunchSettings(s cli.Streams) *cobra.Command {
	var from []string
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "settings [--from env|configmap|FILE]... [flags]",
		Short: "Show all settings of launches, or check those of a file",
		Long: `Show all settings of launches: their names, their environment variables, their keys in the ConfigMap
karpenter-global-settings, and their defaults. Some do not affect a node; what they are for is shown.

With --from the settings are read and checked, and each is shown with its value and with where it was set.
"env" is the environment. "configmap" is the ConfigMap on standard input, as kubectl prints it. A FILE has
options by their names, or is a ConfigMap; one that is called env or configmap is named with its folder, as
./env. A later one goes before an earlier one. Secrets are not shown. Every problem is reported at once, with
exit code 1.`,
		Example: `  slipway launch settings
  slipway launch settings --from settings.yaml
  kubectl get configmap karpenter-global-settings -n karpenter -o yaml | slipway launch settings --from configmap --from env`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage(command.Hint(cmd), "%q is no flag; name files with --from", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			shown := launchSettings{Settings: (*azure.Settings)(nil).Options(), Problems: []nodeconfig.Problem{}}
			if len(from) > 0 {
				sources, err := namedSources(s, from)
				if err != nil {
					return err
				}
				settings, problems := azure.Reload(nil, sources...)
				shown.Problems = append(shown.Problems, problems...)
				if settings != nil {
					shown.Settings = settings.Options()
				}
			}
			return shown.write(s, len(from) > 0, output.Value == command.AsJSON)
		},
	}
	cmd.Flags().StringArrayVar(&from, "from", nil, "read settings from `FILE`, \"env\" or \"configmap\"; a later one goes before an earlier one")
	command.Must(cmd.MarkFlagFilename("from", "yaml", "yml", "json"))
	command.AddOutput(cmd, &output)
	return cmd
}

// write shows the settings and their problems.
func (l *launchSettings) write(s cli.Streams, read, asJSON bool) (err error) {
	fatal := len(nodeconfig.Fatal(l.Problems))
	switch {
	case asJSON:
		err = command.WriteJSON(s, l)
	case fatal == 0:
		err = command.Write(s, l.text(read, cli.StyleOf(s.Out)))
	}
	if err != nil {
		return err
	}
	_, _ = io.WriteString(s.Err, cli.Problems("settings", l.Problems, cli.StyleOf(s.Err)))
	if fatal > 0 {
		return command.Failed("the settings do not take effect: %s", cli.Plural(fatal, "error"))
	}
	return nil
}

// text is a table of all settings: with value and source if they were read, or else with their other names.
func (l *launchSettings) text(read bool, style cli.Style) string {
	table := cli.Table{Widest: shownValue}
	for _, o := range l.Settings {
		name := cli.Cell{Text: o.Name, Paint: style.Bold}
		if read {
			table.Row(name, cli.Cell{Text: cli.Shorten(o.Value, shownValue)}, cli.Cell{Text: cmp.Or(o.Given, "default"), Paint: style.Dim}, cli.Cell{Text: o.Effect, Paint: style.Dim})
			continue
		}
		standard := o.Default
		if o.Required {
			standard = "(required)"
		}
		table.Row(name, cli.Cell{Text: standard}, cli.Cell{Text: strings.Join(o.Variables, ", "), Paint: style.Dim},
			cli.Cell{Text: o.Former, Paint: style.Dim}, cli.Cell{Text: o.Effect, Paint: style.Dim})
	}
	return table.String()
}

// namedSources are the setting sources in --from, in that order.
func namedSources(s cli.Streams, from []string) ([]azure.SettingsSource, error) {
	files := slices.Clone(from)
	for i, name := range files {
		if name == fromConfigMap {
			files[i] = command.Stdin
		}
	}
	if err := oneStdin(files...); err != nil {
		return nil, err
	}
	sources := make([]azure.SettingsSource, 0, len(from))
	for i, name := range from {
		if name == fromEnvironment {
			sources = append(sources, environmentSettings())
			continue
		}
		source, err := fileSettings(s, files[i])
		if err != nil {
			return nil, err
		}
		if tree, err := document.Parse(source.Document); name == fromConfigMap && err == nil && tree.GetText("kind") != configMap {
			return nil, command.Failed("%s is not a ConfigMap; --from FILE reads options by their names", command.Title(files[i]))
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// environmentSettings are the settings of the environment.
func environmentSettings() azure.SettingsSource {
	variables := make(map[string]string)
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	return azure.SettingsSource{Name: "environment", Variables: variables}
}

// fileSettings are the settings of a file.
func fileSettings(s cli.Streams, name string) (azure.SettingsSource, error) {
	data, err := command.ReadInput(s, name)
	return azure.SettingsSource{Name: command.PlaceName(name), Document: data}, err
}
