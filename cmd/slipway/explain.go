package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// explaining has the flags of explain.
type explaining struct {
	from   source
	facts  string
	output command.Choice
}

func newExplain(s cli.Streams) *cobra.Command {
	var e explaining
	cmd := &cobra.Command{
		Use:   "explain [-f CONFIG] {FIELD | EXIT-CODE | TAG} [flags]",
		Short: "Explain a field of a contract, an exit code, or a tag",
		Long: `Explain a field of a contract: what it is for, its default, which field of the NodeConfig it
becomes, whether this version applies it, which concerns of the planner read it, and which
files, units, kernel parameters and checks of the node depend on it.
With -f, the field is explained as it is in that contract, with its value.

FIELD is a path, with or without "$." in front. It is a field of the contract, or of the
NodeConfig that the contract becomes. Secrets are not shown.

EXIT-CODE is the number or the ERR_ name that a provisioning ended with.

TAG is the name of a tag of an Azure virtual machine that changes an AKS node.`,
		Example: `  slipway explain kubelet.config.maxPods
  slipway explain -f aks.json network_config.network_plugin
  slipway explain -f aks.json cluster.server
  slipway explain 51
  slipway explain SkipBinaryCleanup`,
		Args: command.Arguments(1, 1, "one field, one exit code or one tag"),
		RunE: func(_ *cobra.Command, args []string) error {
			if explain.IsCode(args[0]) {
				return e.code(s, args[0])
			}
			if tag, ok := explain.Tag(args[0]); ok {
				return command.Print(s, e.output.Value, tag, func(style cli.Style) string { return tagText(tag, style) })
			}
			return e.field(s, args[0])
		},
		ValidArgsFunction: e.complete,
	}
	e.from.add(cmd)
	addFacts(cmd, &e.facts)
	command.AddOutput(cmd, &e.output)
	return cmd
}

// field explains a field.
func (e *explaining) field(s cli.Streams, path string) error {
	if err := oneStdin(append(e.from.files, e.facts)...); err != nil {
		return err
	}
	f, err := readFacts(s, e.facts)
	if err != nil {
		return err
	}
	x, err := e.explained(s, path, f)
	if err != nil {
		return err
	}
	return command.Print(s, e.output.Value, x, func(style cli.Style) string { return fieldText(x, style) })
}

// explained explains a field of the given contract, or of any contract.
func (e *explaining) explained(s cli.Streams, path string, f facts.Facts) (*explain.Explanation, error) {
	if len(e.from.files) == 0 {
		dialects := dialect.Names()
		if e.from.dialect.Value != "" {
			dialects = []string{e.from.dialect.Value}
		}
		x, err := explain.FieldOfAny(dialects, path, f)
		return x, notFound(err)
	}
	c, err := e.from.read(s)
	if err != nil {
		return nil, err
	}
	if !c.parsed() {
		return nil, c.require(s)
	}
	x, err := explain.Field(c.Contract, path, f)
	if err != nil {
		return nil, notFound(err)
	}
	x.File = c.name
	if !c.valid() {
		_, _ = fmt.Fprintf(s.Err, "%s\n", cli.StyleOf(s.Err).Yellow(fmt.Sprintf(
			"%s has %s; slipway validate lists what is wrong", cli.Line(command.Title(c.name)), cli.Plural(len(nodeconfig.Fatal(c.Problems)), "error"))))
	}
	return x, nil
}

// code explains an exit code.
func (e *explaining) code(s cli.Streams, name string) error {
	code, err := explain.Code(name)
	if err != nil {
		return notFound(err)
	}
	return command.Print(s, e.output.Value, code, func(style cli.Style) string { return codeText(code, style) })
}

// notFound converts the error of a name without an explanation.
func notFound(err error) error {
	if e, ok := errors.AsType[*explain.NotFoundError](err); ok {
		return &cli.Error{Code: exitcode.Invalid, Err: e.Err, Hint: e.Hint}
	}
	return err
}

// complete completes fields, those of the contract if there is one, tags, and the names of exit codes.
func (e *explaining) complete(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var all []cobra.Completion
	if strings.HasPrefix(typed, "E") {
		for _, code := range exitcode.All() {
			all = append(all, cobra.CompletionWithDesc(code.Name, code.Meaning))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	for _, tag := range facts.KnownTags {
		all = append(all, cobra.CompletionWithDesc(tag.Name, tag.Changes))
	}
	dialects := dialect.Names()
	if c, err := e.from.read(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}); err == nil && c.parsed() {
		dialects = []string{c.Dialect}
	}
	for _, name := range dialects {
		for _, field := range explain.Fields(name) {
			all = append(all, cobra.CompletionWithDesc(strings.TrimPrefix(field.Path, "$."), field.Description))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
