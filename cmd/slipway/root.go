package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
)

const program = "slipway"

// run runs the command line and returns its exit code.
func run(args []string, s cli.Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if _, ok := errors.AsType[*cli.Error](err); err != nil && !ok {
		err = usage(cmd, err) // whatever cobra itself objects to
	}
	return cli.Report(s.Err, program, err)
}

func init() { cobra.EnableCommandSorting = false } // they are in the order in which they are needed

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Work on node contracts",
		Long: `Slipway turns a machine into a Kubernetes node, from one document: the contract.
This program works on contracts where they are written. It touches no machine and no
network. Contracts are native (slipway.dev/v1 NodeConfig, YAML or JSON) or AKS's
(aksnodeconfig.v1); which of them a document is, is detected.

Documents go to standard output, what is said about them to standard error, in colour on a
terminal unless NO_COLOR is set.
Exit codes: 0 success, 1 the document has errors or the command failed, 2 wrong usage.`,
		Example: `  slipway validate -f node.yaml
  slipway plan -f node.yaml
  slipway render -f node.yaml --to custom-data -o custom-data.b64`,
		Version:           cli.BuildInfo().String(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(usage)
	root.SetVersionTemplate("slipway {{.Version}}\n")
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(helpTemplate)
	root.AddCommand(
		newValidate(s), newRender(s), newPlan(s), newDiff(s), newExplain(s),
		newSchema(s), newVersion(s), newCompletion(s),
	)
	root.SetHelpCommand(newHelp())
	for _, cmd := range append(root.Commands(), root) {
		cmd.DisableFlagsInUseLine = true
		cmd.Flags().SortFlags = false
	}
	return root
}

// helpTemplate is cobra's, shorter.
const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}} COMMAND

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 96 | trimTrailingWhitespaces}}{{end}}
`

// usage is an error of the command line, with where to read on.
func usage(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*cli.Error](err); ok {
		return e
	}
	return cli.Usage(helpHint(cmd), "%w", err)
}

func helpHint(cmd *cobra.Command) string {
	return fmt.Sprintf("%s --help tells how to use it", cmd.CommandPath())
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := helpHint(cmd)
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? %s", cli.List(near, "or"), hint)
	}
	return cli.Usage(hint, "unknown command %q", args[0])
}

// noArguments refuses arguments where a document is given by a flag.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := helpHint(cmd)
	if cmd.Flags().Lookup("file") != nil {
		hint = "the contract is given with -f FILE; " + hint
	}
	return cli.Usage(hint, "unexpected argument %q", args[0])
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Tell how to use a command",
		Long:  "Tell how to use a command; --help does the same.",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, c := range cmd.Root().Commands() {
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), []string{strings.Join(args, " ")})
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// failed marks what went wrong other than in the command line.
func failed(format string, args ...any) error {
	return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf(format, args...)}
}
