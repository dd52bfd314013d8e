package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// source is the source of a command's contract.
type source struct {
	files   []string
	dialect command.Choice
	node    command.Node
	profile command.Choice
	strict  bool
	// allowed are the settings that may be left out although the node needs them.
	allowed []string
}

// add adds -f and --dialect.
func (s *source) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&s.files, "file", "f", nil, "read the contract from `CONFIG`, YAML or JSON; - is standard input; a later one goes before an earlier one")
	command.Must(cmd.MarkFlagFilename("file", "yaml", "yml", "json"))
	s.dialect.Allowed = dialect.Names()
	command.AddChoice(cmd, &s.dialect, "dialect", "", "read the contract as `DIALECT`: "+cli.List(s.dialect.Allowed, "or")+" (default: detect it)")
	command.AddNode(cmd, &s.node)
	addProfile(cmd, &s.profile)
}

// addProfile adds --profile. The agent has no such flag, because its effect would end with the next boot.
func addProfile(cmd *cobra.Command, c *command.Choice) {
	c.Allowed = profile.Names()
	command.AddChoice(cmd, c, "profile", "", "make a node of the family `PROFILE`, in place of the contract's own: "+cli.List(c.Allowed, "or"))
}

// addPolicy adds --strict and --allow-unapplied: they decide for what a contract is refused.
func (s *source) addPolicy(cmd *cobra.Command) {
	command.AddAllowUnapplied(cmd, &s.allowed)
	cmd.Flags().BoolVar(&s.strict, "strict", false, "refuse a contract that has warnings, with exit code 1")
}

// addFacts adds --facts.
func addFacts(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "facts", "", "plan for the machine that `FACTS` describes (JSON of \"slipway-node facts -o json\")")
	command.Must(cmd.MarkFlagFilename("facts", "json"))
}
