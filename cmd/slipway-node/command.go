package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/profile"
)

const program = "slipway-node"

// app is the program, with its inputs.
type app struct {
	cli.Streams
	// family is the node family whose agent name the program was called by.
	family *profile.Profile
	// root is the directory that replaces the machine. Empty means the machine itself.
	root string
	// logLevel is the lowest logged level; levelGiven reports whether the user set it.
	logLevel   command.Choice
	levelGiven func() bool
	// follows reports that the command runs until it is asked to end, and prints nothing at its end.
	follows bool
	// log is the log, once it is open, and logFile its file, if any.
	log     *slog.Logger
	logFile *host.LogFile
	// changes reports that the command may have changed the machine.
	changes bool
}

// command is the tree of commands, with streams.
func (a *app) command(s cli.Streams) *cobra.Command {
	a.Streams = s
	root := &cobra.Command{
		Use:   a.family.Agent.Called,
		Short: "Turn this machine into a Kubernetes node",
		Long: `Turn this machine into a Kubernetes node: read its contract, plan the node, apply the plan, and
publish the result.

With --root it works on a directory instead of the machine. Files are written below the directory.
What would be done to units and to the kernel is recorded in DIR/run/slipway/actions.jsonl.

The exit code is that of the provisioning; "slipway explain CODE" says what it means.`,
		Example: `  slipway-node provision
  slipway-node provision --root ./out/node --provision-config examples/native/full.yaml
  slipway-node apply -f node.yaml --dry-run
  slipway-node status`,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.root, "root", "", "work on the directory `DIR` instead of the machine")
	command.Must(root.MarkPersistentFlagDirname("root"))
	a.logLevel = command.Choice{Value: "info", Allowed: []string{"debug", "info", "warn", "error"}}
	a.levelGiven = func() bool { return flags.Changed("log-level") }
	flags.Var(&a.logLevel, "log-level", "log messages of `LEVEL` and above: "+cli.List(a.logLevel.Allowed, "or"))
	command.CompleteWith(root, "log-level", a.logLevel.Allowed...)
	command.AddGroup(root, "Make the machine a node", a.provision(), a.provisionWait())
	command.AddGroup(root, "Change the node", a.apply(), a.confirm(), a.rollback(), a.reset())
	command.AddGroup(root, "See what it is", a.status(), a.facts(), a.verify(), a.doctor(), a.anatomy(), a.collect())
	command.AddGroup(root, "Run by units and plug-ins", a.watch(), a.localDNS(), a.eksToken())
	root.AddCommand(a.hotfixes()...)
	command.Prepare(root, a.Streams)
	return root
}
