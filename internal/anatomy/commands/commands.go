// Package commands has the command "slipway anatomy": it gathers the documents that a user names, asks a cluster for its view if the user
// wants that, and prints the timeline that internal/anatomy makes of them.
//
// The command reads files, and asks an API server. It touches no machine. cmd/slipway adds it.
package commands

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/svg"
	"github.com/slipway-dev/slipway/internal/anatomy/text"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// New returns the command.
func New(s cli.Streams) *cobra.Command {
	var (
		output  command.Choice
		options anatomy.Options
		picture string
		cluster clusterFlags
	)
	cmd := &cobra.Command{
		Use:   "anatomy DIR|BUNDLE|FILE... [flags]",
		Short: "Show a boot's timeline, from firmware to a Ready node",
		Long: `Show one boot of a machine as a timeline: firmware, boot loader, kernel, initrd, systemd, its units,
cloud-init's stages and modules, the guest agent and its extensions, Slipway's sources and steps,
containerd, the kubelet, its certificate, the Node. The critical path is marked; the longest waits
have a sentence each.

The input is a directory of logs, an archive of one, or single files: what "slipway-node anatomy -o
json" prints, a timeline that this command printed, journals (journalctl -o json or -o export), cloud-init.log,
waagent.log, AKS's events and results, a virtual machine or scale set (JSON of az or of an activity
log), and Nodes, events and certificate requests (kubectl get -o json). The machine needs no Slipway.

--kubeconfig adds the cluster's view of the machine: the Node, events, certificate requests. Nothing
else of this command uses the network.

All times count from the kernel's start. Records that have the machine's clock alone are placed by the
journal. What could not be read is named.`,
		Example: `  slipway-node anatomy -o json >boot.json   # on the machine
  slipway anatomy boot.json
  slipway anatomy examples/anatomy/aks --svg boot.svg
  slipway anatomy boot.json --kubeconfig ~/.kube/config
  kubectl get node,csr -o json >cluster.json && slipway anatomy boot.json cluster.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(command.Hint(cmd), "name a directory, a bundle or files")
			}
			documents, notes, err := readDocuments(args)
			if err != nil {
				return &cli.Error{Code: exitcode.Invalid, Err: err}
			}
			t := anatomy.Read(documents, options)
			if cluster.kubeconfig != "" {
				view, err := cluster.view(cmd.Context(), t)
				if err != nil {
					return &cli.Error{Code: exitcode.Invalid, Err: err}
				}
				t = anatomy.Read(append(documents, view...), options)
			}
			t.Unread = append(t.Unread, notes...)
			if picture != "" {
				if err := command.WriteFile(picture, svg.Picture(t), command.Public); err != nil {
					return command.Failed("%w", err)
				}
			}
			return command.Print(s, output.Value, t, func(style cli.Style) string { return text.Print(t, style) })
		},
	}
	cmd.Flags().StringVar(&options.Boot, "boot", "", "show the boot whose `ID` begins so; default: the newest boot of the journal")
	cluster.add(cmd)
	cmd.Flags().StringVar(&picture, "svg", "", "write a picture to `FILE`, too")
	command.Must(cmd.MarkFlagFilename("svg", "svg"))
	command.AddOutput(cmd, &output)
	return cmd
}

// clusterFlags name a cluster, and the machine's Node in it.
type clusterFlags struct{ kubeconfig, node string }

func (f *clusterFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "add the cluster's view, with the current context of `FILE`")
	command.Must(cmd.MarkFlagFilename("kubeconfig"))
	cmd.Flags().StringVar(&f.node, "node", "", "with --kubeconfig: the machine's Node is `NAME`; default: the machine's name")
}

// view gets the cluster's view of a timeline's machine.
func (f *clusterFlags) view(ctx context.Context, t *anatomy.Timeline) ([]anatomy.Document, error) {
	node := cmp.Or(f.node, t.Host)
	if node == "" {
		return nil, errors.New("no document has the machine's name: name its Node with --node")
	}
	return clusterView(ctx, f.kubeconfig, node)
}
