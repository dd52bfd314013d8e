package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

// Choice is a flag with a fixed set of values.
type Choice struct {
	Value   string
	Allowed []string
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return "NAME" }

// Set implements pflag.Value.
func (c *Choice) Set(value string) error {
	if !slices.Contains(c.Allowed, value) {
		return fmt.Errorf("want %s", cli.List(c.Allowed, "or"))
	}
	c.Value = value
	return nil
}

// AddChoice adds a flag with a fixed set of values.
func AddChoice(cmd *cobra.Command, c *Choice, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	CompleteWith(cmd, name, c.Allowed...)
}

// AddAllowUnapplied adds --allow-unapplied.
func AddAllowUnapplied(cmd *cobra.Command, paths *[]string) {
	cmd.Flags().StringArrayVar(paths, "allow-unapplied", nil, "leave out the setting `FIELD`, if this version does not apply it, although the contract needs it")
}

// Node selects a node of a contract with several.
type Node struct {
	// Group names its node group, Cluster the file that describes its cluster. Both may be empty.
	Group, Cluster string
}

// AddNode adds --node-group and --cluster.
func AddNode(cmd *cobra.Command, n *Node) {
	cmd.Flags().StringVar(&n.Group, "node-group", "", "take a node of the group `NAME`, if the contract is a ClusterConfig of eksctl's with several")
	cmd.Flags().StringVar(&n.Cluster, "cluster", "", "take what a ClusterConfig does not say of its cluster from `FILE` (JSON of \"aws eks describe-cluster\")")
	Must(cmd.MarkFlagFilename("cluster", "json"))
}

// CompleteWith lets a shell complete a flag's value.
func CompleteWith(cmd *cobra.Command, flag string, values ...string) {
	Must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// Must panics on an error that only a mistake in the program can cause.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// The forms of output.
const (
	AsText = "text"
	AsJSON = "json"
)

// AddOutput adds -o.
func AddOutput(cmd *cobra.Command, c *Choice) {
	*c = Choice{AsText, []string{AsText, AsJSON}}
	AddChoice(cmd, c, "output", "o", "print the result as `FORM`: text or json")
}
