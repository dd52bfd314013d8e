package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// everywhere selects all places.
const everywhere = "all"

func (a *app) provision() *cobra.Command {
	var (
		opts      agent.ProvisionOptions
		meant     command.Node
		factsPath string
		output    command.Choice
	)
	mode := command.Choice{Value: string(agent.Native), Allowed: agent.Modes()}
	from := command.Choice{Value: everywhere, Allowed: append([]string{everywhere}, source.Names()...)}
	cmd := &cobra.Command{
		Use:   "provision [flags]",
		Short: "Make this machine a node, and publish the result",
		Long: `Read the contract, plan the node, apply the plan, and publish the result, also when something fails:
first the document provision.json, then the marker provision.complete.

Without --provision-config the agent looks for the contract in every place where such a machine can
have one: where user data puts it, in the firmware, on the disk that the platform attaches, in the
copies of cloud-init and of guest agents, and in the platform's metadata service. The status says
what each place had. A machine that matches its contract is not touched.

An image of AKS's has scripts that make a node of the same contract. With --mode legacy the agent
runs them, with the variables that AKS's own program would give them, and passes on what they
publish. With --mode auto it does so only where the contract sets something that Slipway does not
apply. The status says which it was, and why. Scripts are run once for a contract.`,
		Example: `  slipway-node provision
  slipway-node provision --wait 5m
  slipway-node provision --source azure-imds --dry-run
  slipway-node provision --provision-config /etc/slipway/config.yaml --dry-run
  slipway-node provision --provision-config node.yaml --root ./out/node
  slipway-node provision --mode auto`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if opts.Config, err = absolute(opts.Config); err != nil {
				return err
			}
			if opts.Script, err = absolute(opts.Script); err != nil {
				return err
			}
			if opts.Facts, err = readFacts(factsPath); err != nil {
				return err
			}
			if opts.Reading, err = readingOf(meant); err != nil {
				return err
			}
			if opts.Wait < 0 {
				return cli.Usage(command.Hint(cmd), "--wait must not be negative: %s", opts.Wait)
			}
			opts.Mode, opts.Source = agent.Mode(mode.Value), from.Value
			if opts.Source == everywhere {
				opts.Source = ""
			}
			node, err := a.changing()
			if err != nil {
				return err
			}
			opts.Identified = newSupervisor(node.Log).Ready
			result := node.Provision(cmd.Context(), opts)
			if opts.DryRun && output.Value == command.AsText {
				if err := command.Write(a.Streams, "Dry run: this would be done. Nothing was changed.\n\n"); err != nil {
					return err
				}
			}
			return a.show(result, output.Value)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Config, "provision-config", "", "read the contract from `PATH` (default: look for it)")
	flags.StringVar(&opts.Script, "nbc-cmd", "", "run the script at `PATH` if there is no contract (AKS's older interface)")
	command.AddChoice(cmd, &from, "source", "", "look for the contract only in `PLACE`: "+cli.List(from.Allowed, "or"))
	command.AddChoice(cmd, &mode, "mode", "", "let the node be made by Slipway, or by the image's scripts: `MODE` is "+cli.List(mode.Allowed, "or"))
	flags.DurationVar(&opts.Wait, "wait", 0, "wait up to `DURATION` for a contract to appear; meanwhile do what needs none")
	flags.BoolVar(&opts.Force, "force", false, "apply a contract even if its revision is lower than the node's")
	flags.BoolVar(&opts.DryRun, "dry-run", false, "show what would be done; change nothing")
	flags.StringVar(&factsPath, "facts", "", "plan for the machine that `FILE` describes (JSON of slipway-node facts), not for this one")
	command.AddNode(cmd, &meant)
	command.AddAllowUnapplied(cmd, &opts.AllowUnapplied)
	command.AddOutput(cmd, &output)
	return cmd
}

// show prints a status, and ends with its exit code.
func (a *app) show(s *status.Status, form string) error {
	if form == command.AsJSON {
		document, err := s.Marshal()
		if err == nil {
			err = command.Write(a.Streams, string(document))
		}
		if err != nil {
			return err
		}
	} else {
		s.Print(a.Out, cli.StyleOf(a.Out) != cli.Style{})
	}
	return exitWith(s.ExitCode, nil)
}

// exitWith ends the program with a code, or successfully if the code is 0 and there is no error.
func exitWith(code int, err error) error {
	if code == 0 && err == nil {
		return nil
	}
	return &cli.Error{Code: code, Err: err}
}

// isCleanPath reports whether a path is absolute and in its shortest form.
func isCleanPath(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// absolute makes a path from the command line absolute. Empty stays empty.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// readingOf is how to read the contract, for the selected node.
func readingOf(meant command.Node) (as compile.Reading, err error) {
	as.NodeGroup, as.ClusterName = meant.Group, meant.Cluster
	if meant.Cluster == "" {
		return as, nil
	}
	as.Cluster, err = readFile("description of the cluster", meant.Cluster, document.MaxBytes)
	return as, err
}

// readFile reads a file from the command line, at most limit bytes, also from a file without a size, such as a pipe.
func readFile(what, path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, command.Failed("read the %s: %w", what, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than the limit of %d bytes", path, limit)
	}
	if err != nil {
		return nil, command.Failed("read the %s: %w", what, err)
	}
	return data, nil
}

func readFacts(path string) (*facts.Facts, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readFile("facts", path, state.Facts.Limit)
	if err != nil {
		return nil, err
	}
	known, err := facts.ParseGiven(data)
	if err != nil {
		return nil, command.Failed("--facts: %s %w", path, err)
	}
	return &known, nil
}
