package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/facts"
)

// capacityOf computes a machine's capacity for a service.
var capacityOf = map[string]struct {
	// flags are the flags that only this service has.
	flags []string
	node  func(machine) (*capacity.Node, error)
}{
	"eks": {[]string{"instance-type", "custom-networking", "prefix-delegation", "capped"}, machine.eks},
	"aks": {[]string{"memory", "network-plugin", "former"}, machine.aks},
}

// services are the names of capacityOf.
var services = []string{"eks", "aks"}

// machine is the machine from the flags and the facts.
type machine struct {
	instanceType string
	cpus         int
	memory       string
	memoryBytes  int64
	maxPods      int
	plugin       command.Choice
	custom       bool
	prefixes     bool
	capped       bool
	former       bool
}

func newCapacity(s cli.Streams) *cobra.Command {
	var (
		m         machine
		output    command.Choice
		factsFile string
	)
	for _, p := range capacity.Plugins() {
		m.plugin.Allowed = append(m.plugin.Allowed, string(p))
	}
	m.plugin.Value = string(capacity.Azure)
	cmd := &cobra.Command{
		Use:   "capacity eks|aks [flags]",
		Short: "Show how many pods a machine can have, and what it keeps back",
		Long: `Show how many pods a machine can have, and how much processor time and memory its kubelet keeps
back for the system, by the rules of EKS or AKS. Each number has its calculation. It works offline: the
program has the network interfaces of EC2's instance types.

--facts takes a file that "slipway-node facts -o json" has written on a machine, in the place of --cpus,
--memory and --instance-type.`,
		Example: `  slipway capacity eks --instance-type m5.large --cpus 2
  slipway capacity eks --instance-type m5.large --cpus 2 --prefix-delegation -o json
  slipway capacity aks --cpus 4 --memory 16Gi --network-plugin azure-overlay
  slipway capacity aks --facts facts.json`,
		ValidArgs: services,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(services, args[0]) {
				return cli.Usage(command.Hint(cmd), "name one service: %s", cli.List(services, "or"))
			}
			known, err := readFacts(s, factsFile)
			if err == nil {
				err = m.complete(known)
			}
			if err == nil {
				err = ofOthers(cmd, args[0])
			}
			if err != nil {
				return err
			}
			node, err := capacityOf[args[0]].node(m)
			if err != nil {
				return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("the capacity cannot be computed: %w", err), Hint: "see " + cmd.CommandPath() + " --help"}
			}
			return command.Print(s, output.Value, node, func(style cli.Style) string { return capacityText(node, style) })
		},
	}
	cmd.Flags().StringVar(&m.instanceType, "instance-type", "", "EC2's `TYPE` of the machine")
	cmd.Flags().IntVar(&m.cpus, "cpus", 0, "virtual processors of the machine")
	cmd.Flags().StringVar(&m.memory, "memory", "", "`SIZE` of the machine's memory, with a unit: 16Gi, 16384Mi")
	cmd.Flags().IntVar(&m.maxPods, "max-pods", 0, "the configured number of pods")
	command.AddChoice(cmd, &m.plugin, "network-plugin", "", "AKS's `PLUGIN` that gives pods their addresses: "+cli.List(m.plugin.Allowed, "or"))
	cmd.Flags().BoolVar(&m.custom, "custom-networking", false, "EKS: pods have addresses of other subnets than the machine")
	cmd.Flags().BoolVar(&m.prefixes, "prefix-delegation", false, "EKS: an interface has prefixes of 16 addresses")
	cmd.Flags().BoolVar(&m.capped, "capped", false, "EKS: at most what EKS recommends, 110 pods or 250")
	cmd.Flags().BoolVar(&m.former, "former", false, "AKS: as before Kubernetes 1.29")
	addFacts(cmd, &factsFile)
	command.AddOutput(cmd, &output)
	return cmd
}

// ofOthers refuses flags that only another service has.
func ofOthers(cmd *cobra.Command, service string) error {
	for _, other := range services {
		for _, flag := range capacityOf[other].flags {
			if other != service && cmd.Flags().Changed(flag) {
				return cli.Usage("leave out --"+flag, "--%s says nothing about %s", flag, service)
			}
		}
	}
	return nil
}

// complete parses the memory, and takes from the facts what the flags do not set.
func (m *machine) complete(known facts.Facts) error {
	if m.cpus == 0 {
		m.cpus = known.CPUs
	}
	if m.instanceType == "" && known.Instance != nil {
		m.instanceType = known.Instance.Type
	}
	m.memoryBytes = known.MemoryBytes
	if m.memory == "" {
		return nil
	}
	for _, unit := range []struct {
		suffix string
		bytes  int64
	}{{"Gi", 1 << 30}, {"Mi", 1 << 20}} {
		digits, found := strings.CutSuffix(m.memory, unit.suffix)
		if number, err := strconv.ParseInt(digits, 10, 32); found && err == nil && number > 0 {
			m.memoryBytes = number * unit.bytes
			return nil
		}
	}
	return cli.Usage("write 16Gi or 16384Mi", "%q is no size of a memory", m.memory)
}

func (m machine) eks() (*capacity.Node, error) {
	return capacity.EKS{
		InstanceType: m.instanceType, VCPUs: m.cpus, MaxPods: m.maxPods, CustomNetworking: m.custom, PrefixDelegation: m.prefixes, Capped: m.capped,
	}.Node()
}

func (m machine) aks() (*capacity.Node, error) {
	return capacity.AKS{
		VCPUs: m.cpus, MemoryBytes: m.memoryBytes, Plugin: capacity.Plugin(m.plugin.Value), MaxPods: m.maxPods, Former: m.former,
	}.Node()
}

// capacityText formats the result for people.
func capacityText(n *capacity.Node, style cli.Style) string {
	table := cli.Table{}
	table.Row(cli.Cell{Text: "SETTING", Paint: style.Dim}, cli.Cell{Text: "VALUE", Paint: style.Dim}, cli.Cell{Text: "HOW", Paint: style.Dim})
	for _, step := range n.Derivation {
		table.Row(cli.Cell{Text: step.Name}, cli.Cell{Text: step.Value, Paint: style.Bold}, cli.Cell{Text: step.How})
	}
	var sources []string
	for _, step := range n.Derivation {
		if !slices.Contains(sources, step.Source) {
			sources = append(sources, step.Source)
		}
	}
	return table.String() + "\n" + style.Dim("sources:") + "\n  " + strings.Join(sources, "\n  ") + "\n"
}
