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
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/userdata"
)

// target is something that a machine is created with.
type target struct {
	name string
	// plain is the document itself.
	plain func(userdata.Contract) ([]byte, error)
	// encoded is the document as an Azure template takes it, in the property of that name.
	encoded  func(userdata.Contract) (string, error)
	property string
	// base64 says that the encoded form is the one to print.
	base64 bool
}

var targets = []target{
	{"custom-data", userdata.MIME, userdata.CustomData, "customData", true},
	{"cloud-config", userdata.CloudConfig, userdata.CloudConfigCustomData, "customData", false},
	{"ignition", userdata.Ignition, userdata.IgnitionCustomData, "customData", true},
	{"cse", csePlain, cse, "commandToExecute", false},
}

func cse(userdata.Contract) (string, error)      { return userdata.CSE, nil }
func csePlain(userdata.Contract) ([]byte, error) { return []byte(userdata.CSE), nil }

func targetNames() []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.name)
	}
	return names
}

// rendering is what the flags of render say.
type rendering struct {
	from   source
	to     command.Choice
	output string
	raw    bool
	force  bool
}

func newRender(s cli.Streams) *cobra.Command {
	r := rendering{to: command.Choice{Allowed: targetNames()}}
	cmd := &cobra.Command{
		Use:   "render -f CONFIG --to TARGET [-o OUT] [flags]",
		Short: "Render what a machine is created with",
		Long: `Render the document that a cloud hands to a new machine, so that it finds its contract and
starts the agent. The same contract gives the same bytes.

  custom-data   MIME for cloud-init, starts the agent in its earliest stage; base64
  cloud-config  plain #cloud-config, for places that take nothing else
  ignition      Ignition 3.4.0, for images without cloud-init; base64
  cse           the command of AKS's custom script extension, which waits for the node

What is printed holds the contract's secrets. A file is written whole or not at all, and is
readable by its owner alone. With -o json, the result is printed as the property of an Azure
template that takes it: {"customData": "..."} or {"commandToExecute": "..."}.

There is no target for a directory of all artefacts yet ("bundle").`,
		Example: `  slipway render -f node.yaml --to custom-data -o custom-data.b64
  slipway render -f aks.json --to custom-data --raw | less
  slipway render -f flatcar.yaml --to ignition --raw -o node.ign`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error { return r.run(s) },
	}
	r.from.add(cmd)
	r.from.addStrict(cmd)
	command.AddChoice(cmd, &r.to, "to", "", "`TARGET` to render: "+cli.List(r.to.Allowed, "or"))
	cmd.Flags().StringVarP(&r.output, "output", "o", "", "`OUT`, the file to write, mode 0600; \"json\" for a property of an Azure template, standard output otherwise")
	cmd.Flags().BoolVar(&r.raw, "raw", false, "the plain document, without base64")
	cmd.Flags().BoolVar(&r.force, "force", false, "render a contract that has errors")
	return cmd
}

func (r *rendering) run(s cli.Streams) error {
	if r.to.Value == "" {
		return cli.Usage("name it with --to "+strings.Join(r.to.Allowed, "|"), "no target is given")
	}
	if r.raw && r.output == command.AsJSON {
		return cli.Usage("to write a file of that name, use -o ./json", "an Azure template takes no plain document: --raw and -o json exclude each other")
	}
	if r.force && r.from.strict {
		return cli.Usage("choose one", "--force renders a contract that has errors, --strict refuses one that has warnings")
	}
	c, err := r.from.read(s)
	if err != nil {
		return err
	}
	if err := r.check(s, c); err != nil {
		return err
	}
	rendered, err := r.render(c)
	if err != nil {
		return refused(s, c, err)
	}
	switch r.output {
	case command.AsJSON:
		return command.WriteJSON(s, map[string]string{r.target().property: rendered})
	case "", stdin:
		return command.Write(s, rendered)
	}
	if err := writePrivate(r.output, []byte(rendered)); err != nil {
		return command.Failed("%w", err)
	}
	_, _ = fmt.Fprintf(s.Err, "wrote %s, %d bytes, readable by its owner alone\n", cli.Line(r.output), len(rendered))
	return nil
}

// check refuses a contract that has errors, unless it is forced.
func (r *rendering) check(s cli.Streams, c *contract) error {
	if c.valid() {
		c.plan(facts.Facts{}) // for its problems
	}
	err := c.require(s)
	if err == nil {
		return nil
	}
	hint := "no node can be made of it; --force renders it all the same"
	switch {
	case c.valid(), !c.parsed():
		return err
	case r.force:
		return nil
	}
	return &cli.Error{Code: exitcode.Invalid, Err: err, Hint: hint}
}

func (r *rendering) target() target {
	for _, t := range targets {
		if t.name == r.to.Value {
			return t
		}
	}
	panic("the flag takes only targets that exist")
}

// render returns the text to deliver; what people may read ends with a line break.
func (r *rendering) render(c *contract) (string, error) {
	t, deliver := r.target(), delivered(c)
	if r.output == command.AsJSON || t.base64 && !r.raw {
		text, err := t.encoded(deliver)
		if r.output != command.AsJSON {
			text += "\n"
		}
		return text, err
	}
	document, err := t.plain(deliver)
	if n := len(document); n > 0 && document[n-1] != '\n' {
		document = append(document, '\n')
	}
	return string(document), err
}

// delivered is the contract as the machine gets it: the document itself, in its own dialect.
func delivered(c *contract) userdata.Contract {
	if c.Dialect == dialect.AKS {
		return userdata.Contract{Document: c.Canonical, Path: userdata.AKSPath, Features: c.Config.Components.Features}
	}
	return userdata.Contract{Document: c.Canonical, Path: userdata.NativePath}
}

// refused turns the renderer's objections into problems of the document.
func refused(s cli.Streams, c *contract, err error) error {
	invalid, ok := errors.AsType[*userdata.InvalidError](err)
	if !ok {
		return command.Failed("%s: %w", title(c.name), err)
	}
	var problems []nodeconfig.Problem
	for _, p := range invalid.Problems {
		path := p.Field
		for name := range c.Config.Components.Features {
			if p.Field == fmt.Sprintf("Features[%q]", name) {
				path = document.FieldPath("$.components.features", name)
			}
		}
		problems = append(problems, c.Place(nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: path, Reason: p.Reason, Fatal: true}))
	}
	nodeconfig.SortProblems(problems)
	_, _ = io.WriteString(s.Err, cli.Problems(c.place(), problems, cli.StyleOf(s.Err)))
	return command.Failed("%s cannot be rendered, %s", title(c.name), cli.CountProblems(problems))
}
