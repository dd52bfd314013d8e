package main

import (
	"context"

	"github.com/spf13/cobra"

	anatomy "github.com/slipway-dev/slipway/internal/anatomy/commands"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	image "github.com/slipway-dev/slipway/internal/image/commands"
)

const program = "slipway"

// run runs the command line and returns its exit code.
func run(args []string, s cli.Streams) int {
	return command.Run(context.Background(), newRoot, args, s)
}

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Check node contracts and render them",
		Long: `Slipway turns a machine into a Kubernetes node, from one document: the contract.
This program checks contracts and shows what they do, before a machine has them, and how a machine
has become a node. It touches no machine. Only "anatomy --kubeconfig", "image" and
"verify-release" use the network.
It reads documents of these dialects, in YAML or JSON, and detects which one a document is in:

` + listOfDialects() + `
Results go to standard output, messages to standard error. A terminal gets colours, unless
NO_COLOR is set.
Exit codes: 0 success, 1 the document has errors or the command failed, 64 wrong usage.`,
		Example: `  slipway validate -f node.yaml
  slipway plan -f node.yaml
  slipway render -f node.yaml --to custom-data --out custom-data.b64`,
	}
	command.AddGroup(root, "Check a contract", newValidate(s), newExplain(s), newSchema(s))
	command.AddGroup(root, "See the node that it makes", append(onLinux(s), newPlan(s), newDiff(s), newCapacity(s))...)
	command.AddGroup(root, "Make what a machine is created with", newRender(s), newConvert(s), newLaunch(s))
	command.AddGroup(root, "Make a node image", image.New(s, newImageCan(s)))
	command.AddGroup(root, "See how a machine became a node", anatomy.New(s))
	command.AddGroup(root, "Verify Slipway itself", newVerifyRelease(s))
	command.Prepare(root, s)
	return root
}
