package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch/azure"
)

// clusterFlags are the flags of cluster.
type clusterFlags struct {
	asking
	output
	group, name         string
	kubeconfig, context string
	settings            bool
}

func newCluster(s cli.Streams, w world) *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "cluster [--resource-group G --name N] [--kubeconfig FILE] [flags]",
		Short: "Find out what there is to know of a cluster, for slipway launch --cluster",
		Long: `Find out what there is to know of a cluster, and write the file for slipway launch --cluster.

Azure knows of a managed cluster its version, CA, network, node resource group, subnet, security groups, route
tables and the kubelet's identity. The API server of a kubeconfig knows version, CA, the address of the DNS
service and the range of services; a kubeconfig alone is enough for these. With both, the API server's own
answers are taken first, and two that differ are an error: the kubeconfig may be another cluster's.

Each fact has its source, its time, and whether it is certain.

With --settings, the document is a ConfigMap with the settings of a program that launches nodes for the managed
cluster. It has no bootstrap token.`,
		Example: `  slipway-azure-detect cluster --subscription ID --resource-group example-rg --name example --out detected.json
  slipway-azure-detect cluster --kubeconfig ~/.kube/config --context example --out -
  slipway-azure-detect cluster --subscription ID --resource-group example-rg --name example --settings --out settings.json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s, w) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.group, "resource-group", "g", "", "ask for a managed cluster of the resource group `NAME`")
	flags.StringVarP(&f.name, "name", "n", "", "ask for the managed cluster `NAME`")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "ask the API server of the kubeconfig `FILE`")
	flags.StringVar(&f.context, "context", "", "take the context `NAME` of the kubeconfig; default: the current one")
	flags.BoolVar(&f.settings, "settings", false, "write a ConfigMap with the settings of a program that launches nodes")
	command.Must(cmd.MarkFlagFilename("kubeconfig"))
	f.asking.add(cmd)
	f.output.add(cmd)
	return cmd
}

func (f *clusterFlags) run(cmd *cobra.Command, s cli.Streams, w world) error {
	subscription := f.as(w)
	asksAzure := f.group != "" || f.name != ""
	switch {
	case !asksAzure && f.kubeconfig == "":
		return cli.Usage(command.Hint(cmd), "name a managed cluster with --resource-group and --name, or a kubeconfig with --kubeconfig")
	case asksAzure && (f.group == "" || f.name == ""):
		return cli.Usage(command.Hint(cmd), "a managed cluster has a --resource-group and a --name; give both")
	case asksAzure && subscription == "":
		return cli.Usage(command.Hint(cmd), "name the subscription of the managed cluster with --subscription")
	case f.settings && !asksAzure:
		return cli.Usage(command.Hint(cmd), "--settings are those of a managed cluster; name it with --resource-group and --name")
	case f.context != "" && f.kubeconfig == "":
		return cli.Usage(command.Hint(cmd), "--context is one of a kubeconfig; name that with --kubeconfig")
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	var found *azure.Detected
	var wrong []error
	if f.kubeconfig != "" {
		document, err := f.askKubernetes(ctx, s, w)
		if document == nil {
			return err
		}
		found, wrong = document, append(wrong, err)
	}
	if asksAzure {
		client, err := w.open(ctx, &f.asking)
		if err != nil {
			return err
		}
		managed := detect.Cluster{Subscription: subscription, ResourceGroup: f.group, Name: f.name}
		document, err := client.Cluster(ctx, managed)
		wrong = append(wrong, err)
		if f.kubeconfig != "" {
			document, err = detect.Merge(found, document)
			wrong = append(wrong, err)
		}
		if found = document; f.settings && !isEmpty(found) {
			settings, err := client.Settings(ctx, managed, found)
			return f.write(s, settings, len(settings.Data) == 0, errors.Join(append(wrong, err)...))
		}
	}
	return f.write(s, found, isEmpty(found), errors.Join(wrong...))
}

// isEmpty reports whether a document has no fact.
func isEmpty(d *azure.Detected) bool {
	return *d == azure.Detected{APIVersion: d.APIVersion, Kind: d.Kind}
}

// askKubernetes reads from the API server. It returns no document if the kubeconfig cannot be used.
func (f *clusterFlags) askKubernetes(ctx context.Context, s cli.Streams, w world) (*azure.Detected, error) {
	data, err := os.ReadFile(f.kubeconfig)
	if err != nil {
		return nil, command.Failed("kubeconfig %s: %w", f.kubeconfig, command.Pathless(err))
	}
	k, err := detect.ReadKubeconfig(data, filepath.Dir(f.kubeconfig), f.context)
	if err != nil {
		return nil, command.Failed("kubeconfig %s: %w", f.kubeconfig, err)
	}
	k.Now, k.Messages = w.now, s.Err
	return k.Detect(ctx)
}
