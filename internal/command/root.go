package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func init() { cobra.EnableCommandSorting = false } // they are in the order of use

// Run runs a command line of a program and returns its exit code.
func Run(ctx context.Context, program func(cli.Streams) *cobra.Command, args []string, s cli.Streams) int {
	out := cli.NewRecorder(s.Out)
	s.Out = out
	root := program(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if cmd == root && err != nil {
		err = misspelled(root, args, err)
	}
	if _, ok := errors.AsType[*cli.Error](err); err != nil && !ok {
		err = usage(cmd, err) // an error of cobra itself
	}
	code := cli.Report(s.Err, root.Name(), err)
	if e, ok := errors.AsType[*cli.Error](err); ok && e.Err != nil && !out.Written() && wantsJSON(args) {
		_ = WriteJSON(s, failure{cli.Clean(e.Error()), e.Hint, code, e.Problems}) // standard error has it, too
	}
	return code
}

// failure is the JSON form of an error. A program that reads JSON gets it instead of the result.
type failure struct {
	Error    string               `json:"error"`
	Hint     string               `json:"hint,omitempty"`
	ExitCode int                  `json:"exitCode"`
	Problems []nodeconfig.Problem `json:"problems,omitempty"`
}

// wantsJSON reports whether a command line has -o json. It checks the words, because cobra may have failed to parse
// them.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found && i+1 < len(args) {
			value = args[i+1]
		}
		if (name == "-o" || name == "--output") && value == AsJSON || arg == "-o"+AsJSON {
			return true
		}
	}
	return false
}

// Prepare completes a program's root command after its commands have been added: with the commands that every program
// has, the streams, and the uniform error for a wrong command line.
func Prepare(root *cobra.Command, s cli.Streams) {
	showVersion := root.Flags().BoolP("version", "v", false, "print the version")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = mistakes
	root.CompletionOptions.DisableDefaultCmd = true
	root.Args = unknownCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			return printVersion(cmd, s, AsText)
		}
		return cmd.Help()
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(usage)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = Write(s, helpText(cmd)) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { return Write(s, helpText(cmd)) })
	root.AddCommand(version(s), completion(s))
	root.SetHelpCommand(help(s))
	for _, cmd := range append(root.Commands(), root) {
		cmd.DisableFlagsInUseLine = true
		cmd.Flags().SortFlags = false
	}
}

// helpText is a command's help: its purpose, its usage, and examples.
func helpText(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		b.WriteString(" COMMAND")
		for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Other commands"}) {
			writeGroup(&b, cmd, group)
		}
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	for _, flags := range []struct{ title, text string }{
		{"Flags", cmd.LocalFlags().FlagUsagesWrapped(96)},
		{"Flags of every command", cmd.InheritedFlags().FlagUsagesWrapped(96)},
	} {
		if flags.text != "" {
			b.WriteString("\n\n" + flags.title + ":\n" + strings.TrimRight(flags.text, "\n"))
		}
	}
	return b.String() + "\n"
}

// writeGroup writes the commands of a group.
func writeGroup(b *strings.Builder, cmd *cobra.Command, group *cobra.Group) {
	title := group.Title
	if len(cmd.Groups()) == 0 {
		title = "Commands"
	}
	for _, c := range cmd.Commands() {
		if c.GroupID != group.ID || !shown(c) {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n\n%s:", title)
			title = ""
		}
		fmt.Fprintf(b, "\n  %-*s  %s", c.NamePadding(), c.Name(), c.Short)
	}
}

// shown reports whether the help of the command above has a command.
func shown(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" }

// AddGroup adds commands under a title in the help.
func AddGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	cmd.AddCommand(commands...)
}

// NewGroup returns a command that only has other ones.
func NewGroup(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: unknownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SuggestionsMinimumDistance: mistakes,
	}
	for _, c := range commands {
		c.DisableFlagsInUseLine = true
		c.Flags().SortFlags = false
	}
	cmd.AddCommand(commands...)
	return cmd
}

// usage is an error of the command line, with a hint to the help.
func usage(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*cli.Error](err); ok {
		return e
	}
	return cli.Usage(nearFlag(cmd, err)+Hint(cmd), "%w", err)
}

// Hint is a hint to a command's help.
func Hint(cmd *cobra.Command) string {
	return fmt.Sprintf("%s --help shows how to use it", cmd.CommandPath())
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := Hint(cmd)
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? %s", cli.List(near, "or"), hint)
	}
	return cli.Usage(hint, "unknown command %q", args[0])
}

// misspelled is the error of a command line with an unknown command. cobra parses the flags after such a command as the
// program's, and reports the first of them.
func misspelled(root *cobra.Command, args []string, err error) error {
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if i == 0 || len(root.SuggestionsFor(arg)) > 0 {
			return unknownCommand(root, []string{arg})
		}
	}
	return err
}

// nearFlag adds a suggestion to the error of an unknown flag.
func nearFlag(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if document.Distance(unknown.GetSpecifiedName(), f.Name, mistakes+1) <= mistakes {
			near = append(near, "--"+f.Name)
		}
	})
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("did you mean %s? ", cli.List(near, "or"))
}

// mistakes is the maximum edit distance between a typed command or flag and a suggestion.
const mistakes = 2

// Arguments requires a number of arguments from least to most; what names them.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return cli.Usage(Hint(cmd), "name %s; there are %d", what, len(args))
		}
		return nil
	}
}

// NoArguments refuses arguments if a flag gives the document.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := Hint(cmd)
	if cmd.Flags().Lookup("file") != nil {
		hint = "name the file with -f FILE; " + hint
	}
	return cli.Usage(hint, "unexpected argument %q", args[0])
}

func help(s cli.Streams) *cobra.Command {
	var output Choice
	cmd := &cobra.Command{
		Use:     "help [COMMAND] [flags]",
		Short:   "Show how to use a command",
		Long:    "Show how to use a command. --help does the same. As JSON, the help has all commands below, too.",
		Example: "  slipway help validate\n  slipway help -o json\n  slipway-node help provision",
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
			if output.Value == AsJSON {
				return WriteJSON(s, describe(target))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
	AddOutput(cmd, &output)
	return cmd
}

// Failed is an error that is not in the command line.
func Failed(format string, args ...any) error {
	return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf(format, args...)}
}
