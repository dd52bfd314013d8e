package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// choice is a flag whose value is one of a few.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "NAME" }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("want %s", cli.List(c.allowed, "or"))
	}
	c.value = value
	return nil
}

// addChoice adds a flag whose value is one of allowed; the first is the default where none is set.
func addChoice(cmd *cobra.Command, c *choice, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	completeWith(cmd, name, c.allowed...)
}

func completeWith(cmd *cobra.Command, flag string, values ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// must is for what fails only where this program is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// The forms of output.
const (
	asText = "text"
	asJSON = "json"
)

// addOutput adds -o.
func addOutput(cmd *cobra.Command, c *choice) {
	*c = choice{asText, []string{asText, asJSON}}
	addChoice(cmd, c, "output", "o", "`FORM` of the output: text, for people, or json, one document")
}

// source is where a command takes its contract from.
type source struct {
	file    string
	dialect choice
}

// add adds -f and --dialect.
func (s *source) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.file, "file", "f", "", "the contract: a `CONFIG` in YAML or JSON, - for standard input")
	must(cmd.MarkFlagFilename("file", "yaml", "yml", "json"))
	s.dialect.allowed = dialect.Names()
	addChoice(cmd, &s.dialect, "dialect", "", "read the contract as `DIALECT`, "+cli.List(s.dialect.allowed, "or")+", instead of detecting which it is")
}

// addFacts adds --facts.
func addFacts(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "facts", "", "`FACTS` of the machine, JSON; without them nothing is known of it")
	must(cmd.MarkFlagFilename("facts", "json"))
}
