package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// conversion has the flags of convert.
type conversion struct {
	from   source
	form   command.Choice
	to     command.Choice
	output command.Choice
	out    string
	// defaults is a file with the cluster's kubelet-config. It may be empty.
	defaults string
}

// asYAML is the usual form of a contract that people read.
const asYAML = "yaml"

func newConvert(s cli.Streams) *cobra.Command {
	c := conversion{
		form:   command.Choice{Allowed: slices.Sorted(maps.Keys(dialect.Forms()))},
		to:     command.Choice{Value: dialect.Native, Allowed: []string{dialect.Native}},
		output: command.Choice{Value: asYAML, Allowed: []string{asYAML, command.AsJSON}},
	}
	cmd := &cobra.Command{
		Use:   "convert -f FILE [--from DIALECT] [--out FILE]",
		Short: "Convert a contract of any dialect to a native one",
		Long: `Convert a contract of any dialect to a native one. Both make the same node.

What had no place is listed on standard error: the field, and what is lost. A contract of which no
node can be made is not converted.

The agent takes from a cluster of kubeadm what that sets for the kubelets of all its nodes. For a
node without an agent, --kubelet-config puts it into the contract. The file holds the ConfigMap
kubelet-config of kube-system, as kubectl prints it, or the KubeletConfiguration in it.

What is printed holds the contract's secrets. A file is written whole or not at all, and only its
owner can read it. A contract with secrets is not printed on a terminal.`,
		Example: `  slipway convert -f join.txt --from kubeadm-join --out converted.yaml
  slipway convert -f join.txt --kubelet-config kubelet-config.yaml --out converted.yaml
  slipway convert -f bootstrap.kubeconfig --from kubeconfig --out converted.yaml
  slipway convert -f aks.json --out converted.yaml`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error { return c.run(s) },
	}
	c.from.add(cmd)
	command.Must(cmd.Flags().MarkHidden("dialect")) // its name here is --from, which has more choices
	command.AddChoice(cmd, &c.form, "from", "", "read the file as `DIALECT`: "+cli.List(c.form.Allowed, "or")+" (default: detect it)")
	command.AddChoice(cmd, &c.to, "to", "", "write a contract of `DIALECT`: "+cli.List(c.to.Allowed, "or"))
	cmd.Flags().StringVar(&c.defaults, "kubelet-config", "", "take the cluster's kubelet-config from the file `FILE`")
	addOut(cmd, &c.out)
	command.AddChoice(cmd, &c.output, "output", "o", "write the contract as `FORM`: "+cli.List(c.output.Allowed, "or"))
	return cmd
}

func (c *conversion) run(s cli.Streams) error {
	if c.form.Value != "" {
		c.from.dialect.Value = dialect.Forms()[c.form.Value]
	}
	read, err := c.from.read(s)
	if err != nil {
		return err
	}
	read.Problems = append(read.Problems, read.WithoutPlace()...)
	written := read.Written()
	if c.defaults != "" {
		problems, err := c.takeDefaults(s, written, read.Config)
		if err != nil {
			return err
		}
		read.Problems = append(read.Problems, problems...)
	}
	nodeconfig.SortProblems(read.Problems)
	if err := read.require(s); err != nil {
		return err
	}
	converted := compile.NativeOf(written)
	if isStdout(c.out) && cli.IsTerminal(s.Out) {
		if _, err := json.Marshal(written); err != nil { // it refuses a secret
			return cli.Usage("name a file with --out FILE, or send the output to a program", "the contract holds secrets, and is not printed on a terminal")
		}
	}
	if c.output.Value == command.AsJSON {
		return deliverJSON(s, c.out, json.RawMessage(nodeconfig.Encode(written)))
	}
	return deliver(s, c.out, converted)
}

// takeDefaults adds the settings of the cluster's kubelet-config to a config.
func (c *conversion) takeDefaults(s cli.Streams, written, complete *nodeconfig.NodeConfig) ([]nodeconfig.Problem, error) {
	data, err := command.ReadInput(s, c.defaults)
	if err != nil {
		return nil, err
	}
	if tree, err := document.Parse(data); err == nil && tree.GetText("kind") == "ConfigMap" {
		values, _ := tree.Get("data")
		data = []byte(values.GetText("kubelet"))
	}
	problems, err := kubelet.WithDefaults(written, complete, data)
	if err != nil {
		return nil, command.Failed("%s: %w", command.Title(c.defaults), err)
	}
	return problems, nil
}
