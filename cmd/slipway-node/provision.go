package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/facts"
)

func (a *app) provision() *cobra.Command {
	var opts agent.ProvisionOptions
	var factsPath, output string
	cmd := &cobra.Command{
		Use:   "provision",
		Short: "Make the machine a node, and publish the result",
		Long: `Reads the contract, plans, applies, and publishes the result, whatever happens on the way: the
document provision.json first, the marker provision.complete after it.

Without --provision-config the contract is looked for where user data puts it. A machine that is as
the contract says already is not touched. The exit code is the result's: slipway explain CODE says
what it means.`,
		Example: `  slipway-node provision
  slipway-node provision --provision-config /opt/azure/containers/aks-node-controller-config.json
  slipway-node provision --provision-config node.yaml --root ./out/node
  slipway-node provision --provision-config node.yaml --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if factsPath != "" {
				known, err := readFacts(factsPath)
				if err != nil {
					return err
				}
				opts.Facts = &known
			}
			if opts.Config != "" {
				path, err := filepath.Abs(opts.Config)
				if err != nil {
					return err
				}
				opts.Config = path
			}
			node, err := a.agent()
			if err != nil {
				return err
			}
			result := node.Provision(cmd.Context(), opts)
			if output == outputJSON {
				document, err := result.Marshal()
				if err != nil {
					return err
				}
				_, err = a.stdout.Write(document)
				return exitWith(result.ExitCode, err)
			}
			if opts.DryRun {
				fmt.Fprintln(a.stdout, "Dry run: this is what would be done; nothing was.")
			}
			result.Print(a.stdout, cli.StyleOf(a.stdout) != (cli.Style{}))
			return exitWith(result.ExitCode, nil)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Config, "provision-config", "", "the contract's `path`; without it the known places are tried")
	flags.StringVar(&opts.Script, "nbc-cmd", "", "a script's `path`, run where no contract is given (AKS's older interface)")
	flags.BoolVar(&opts.DryRun, "dry-run", false, "compare only: tell what would be done")
	flags.StringVar(&factsPath, "facts", "", "use the recorded facts in this `file` instead of the machine's")
	outputFlag(cmd, &output)
	return cmd
}

func readFacts(path string) (facts.Facts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return facts.Facts{}, exitWith(exitcode.Invalid, fmt.Errorf("read the facts: %w", err))
	}
	return facts.Parse(data)
}
