package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
)

func newLaunchTypes(s cli.Streams) *cobra.Command {
	var list, location string
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "types [NAME...] [flags]",
		Short: "Show what is known of instance types",
		Long: `Show what is known of Azure's instance types: processors, memory, architecture, generations of the
hypervisor, graphics processors, the disks of the host, and why a subscription cannot have one. The common
ones are built in, and --instance-types reads any others. What is not known is shown as "?"; a decision that
needs it is a problem.`,
		Example: `  slipway launch types
  slipway launch types Standard_D4ds_v5 --instance-types skus.json --location eastus -o json`,
		RunE: func(_ *cobra.Command, names []string) error {
			all := azure.InstanceTypes()
			if list != "" {
				data, err := command.ReadInput(s, list)
				if err != nil {
					return err
				}
				if all, err = azure.ReadInstanceTypes(data, location); err != nil {
					return command.Failed("%s: %w", command.Title(list), err)
				}
			}
			for _, name := range names {
				if !slices.ContainsFunc(all, func(t launch.InstanceType) bool { return strings.EqualFold(t.Name, name) }) {
					return command.Failed("the instance type %q is not known", name)
				}
			}
			if len(names) > 0 {
				all = slices.DeleteFunc(all, func(t launch.InstanceType) bool {
					return !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(t.Name, name) })
				})
			}
			return command.Print(s, output.Value, all, func(style cli.Style) string { return typesText(all, style) })
		},
	}
	cmd.Flags().StringVar(&list, "instance-types", "", "read the instance types from `FILE`, as \"az vm list-skus -o json\" writes them")
	cmd.Flags().StringVar(&location, "location", "", "the `REGION` whose zones are shown")
	command.Must(cmd.MarkFlagFilename("instance-types", "json"))
	command.AddOutput(cmd, &output)
	return cmd
}

// typesText is a table of instance types.
func typesText(all []launch.InstanceType, style cli.Style) string {
	var table cli.Table
	gibibytes := func(bytes int64) string { return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', -1, 64) + " GiB" }
	orUnknown := func(known bool, text string) string {
		if !known {
			return "?"
		}
		return text
	}
	for i := range all {
		t := &all[i]
		disk := "no disk on the host"
		if t.EphemeralDisk != nil && *t.EphemeralDisk {
			disk = strings.Join(t.Placements, ", ")
		}
		gpus := "?"
		if t.GPUs != nil {
			gpus = strconv.Itoa(*t.GPUs)
		}
		kind := strings.TrimSpace(t.GPUManufacturer + " " + t.GPUName)
		if kind != "" {
			kind = " of " + kind
		}
		table.Row(
			cli.Cell{Text: t.Name, Paint: style.Bold}, cli.Cell{Text: fmt.Sprintf("%s CPUs", orUnknown(t.VCPUs > 0, strconv.Itoa(t.VCPUs)))},
			cli.Cell{Text: orUnknown(t.MemoryBytes > 0, gibibytes(t.MemoryBytes))}, cli.Cell{Text: orUnknown(t.Architecture != "", t.Architecture)},
			cli.Cell{Text: "generation " + orUnknown(len(t.Generations) > 0, strings.Join(t.Generations, ", "))}, cli.Cell{Text: gpus + " GPUs" + kind},
			cli.Cell{Text: orUnknown(t.EphemeralDisk != nil, disk), Paint: style.Dim}, cli.Cell{Text: t.Unavailable, Paint: style.Dim},
		)
	}
	return table.String()
}
