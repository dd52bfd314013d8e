package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// planning has the flags of plan.
type planning struct {
	from   source
	facts  string
	output command.Choice
	show   string
	reveal bool
}

func newPlan(s cli.Streams) *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan -f CONFIG [flags]",
		Short: "Show the node that a contract makes",
		Long: `Show the node that a contract makes: every file, directory, kernel parameter, module, unit,
command and check, and which units restart when one of them changes.

The plan depends on the contract and on the facts of the machine, and on nothing else.
"slipway-node facts -o json" records the facts on a machine; without them nothing is known of
the machine. The content of a secret file is not shown, unless --reveal asks for it.`,
		Example: `  slipway plan -f node.yaml
  slipway plan -f node.yaml --facts facts.json -o json >plan.json
  slipway plan -f node.yaml --show /etc/containerd/config.toml`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error { return p.run(s) },
	}
	p.from.add(cmd)
	p.from.addPolicy(cmd)
	addFacts(cmd, &p.facts)
	command.AddOutput(cmd, &p.output)
	cmd.Flags().StringVar(&p.show, "show", "", "print one file of the plan, by its `PATH` on the node")
	cmd.Flags().BoolVar(&p.reveal, "reveal", false, "with --show: print the file even if it is secret")
	command.Must(cmd.RegisterFlagCompletionFunc("show", p.completeFiles))
	return cmd
}

func (p *planning) run(s cli.Streams) error {
	if p.reveal && p.show == "" {
		return cli.Usage("name the file with --show PATH", "--reveal is for one file")
	}
	c, made, err := p.plan(s)
	if err != nil {
		return err
	}
	if p.show != "" {
		return p.showFile(s, made)
	}
	return command.Print(s, p.output.Value, made, func(style cli.Style) string { return planText(c, made, style) })
}

// plan reads the files of the flags and plans them.
func (p *planning) plan(s cli.Streams) (*contract, resource.Plan, error) {
	c, made, err := p.from.planned(s, p.facts)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	return c, made, c.require(s)
}

// showFile prints one file of a plan.
func (p *planning) showFile(s cli.Streams, made resource.Plan) error {
	var paths []string
	for _, r := range made.Resources {
		file, ok := r.Spec.(*resource.File)
		if !ok {
			continue
		}
		paths = append(paths, file.Path)
		if file.Path != p.show {
			continue
		}
		shown := *file
		shown.Secret = file.Secret && !p.reveal
		switch {
		case p.output.Value == command.AsJSON:
			return command.WriteJSON(s, shown)
		case shown.Secret:
			_, _ = fmt.Fprintln(s.Err, cli.StyleOf(s.Err).Dim("secret; --reveal shows it"))
			return command.Write(s, nodeconfig.Redacted+"\n")
		}
		return command.Write(s, string(shown.Content))
	}
	err := &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("the plan has no file %q", p.show)}
	if near := document.Alike(p.show, paths); len(near) > 0 {
		err.Hint = "did you mean " + cli.List(near, "or") + "?"
	}
	return err
}

// completeFiles completes the files of the plan.
func (p *planning) completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, made, err := p.plan(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var paths []cobra.Completion
	for _, r := range made.Resources {
		if file, ok := r.Spec.(*resource.File); ok {
			paths = append(paths, cobra.CompletionWithDesc(file.Path, r.Reason))
		}
	}
	return paths, cobra.ShellCompDirectiveNoFileComp
}
