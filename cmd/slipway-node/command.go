package main

import (
	"io"

	"github.com/spf13/cobra"
)

// aksName is the name under which AKS's images and extensions call the agent.
const aksName = "aks-node-controller"

// app is the program, with what it was started with.
type app struct {
	// asAKS says that it was called by AKS's name.
	asAKS          bool
	stdout, stderr io.Writer
	// root is the directory in the machine's place; empty for the machine itself.
	root string
	// logLevel is the least severe level that is logged.
	logLevel string
}

// command is the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "slipway-node",
		Short: "Turn this machine into a Kubernetes node",
		Long: `slipway-node turns the machine it runs on into a Kubernetes node: it reads a contract,
plans what the machine should be like, makes it so, and publishes the result.

With --root it works on a directory instead: files are written below it, and what would be done to
units and the kernel is recorded in DIR/run/slipway/actions.jsonl.`,
		Example: `  slipway-node provision --provision-config /etc/slipway/config.yaml
  slipway-node provision --root ./out/node --provision-config examples/native/full.yaml
  slipway-node status`,
	}
	if a.asAKS {
		root.Use = aksName
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().StringVar(&a.root, "root", "", "work on this `directory` instead of the machine")
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "info", "log this `level` and above: debug, info, warn, error")
	complete(root, "log-level", "debug", "info", "warn", "error")
	root.AddCommand(a.provision(), a.provisionWait(), a.status(), a.version())
	return root
}
