package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/ekstoken"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
)

// tokenPatience limits the metadata service's answer. The kubelet asks again later.
const tokenPatience = time.Minute

func (a *app) eksToken() *cobra.Command {
	var request ekstoken.Request
	cmd := &cobra.Command{
		Use:   "eks-token --cluster-name NAME [flags]",
		Short: "Print a token for a cluster of Amazon EKS",
		Long: `Print a token by which this machine shows a cluster of Amazon EKS which AWS identity it has. It is a
client-go credential plug-in (ExecCredential), which the kubeconfig of an EKS node calls; it takes the
place of "aws eks get-token". What it prints is secret.

The credentials are those of the instance's role, from EC2's metadata service (version 2). Nothing else
is asked over the network. The token is good for 14 minutes, or until the credentials expire.

--fips, or ` + awsname.FIPSVariable + `=true in the environment, has the cluster ask the endpoint of AWS STS whose
cryptography is validated by FIPS 140. Such endpoints exist in regions of the United States.`,
		Example: `  slipway-node eks-token --cluster-name prod --region eu-west-1`,
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !awsname.IsCluster(request.Cluster) {
				return cli.Usage(command.Hint(cmd), "--cluster-name must be the name of a cluster, not %q", request.Cluster)
			}
			if request.Region != "" && !awsname.IsRegion(request.Region) {
				return cli.Usage(command.Hint(cmd), "--region must be a region, such as us-east-1, not %q", request.Region)
			}
			if a.root != "" {
				return cli.Usage(command.Hint(cmd), "--root: a directory has no AWS identity")
			}
			if !cmd.Flags().Changed("fips") {
				request.FIPS = strings.EqualFold(os.Getenv(awsname.FIPSVariable), "true")
			}
			return a.printToken(cmd.Context(), request)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.Cluster, "cluster-name", "", "the cluster is called `NAME`; a local cluster on an outpost, its ID")
	flags.StringVar(&request.Region, "region", "", "the cluster is in the region `REGION`; the machine's by default")
	flags.BoolVar(&request.FIPS, "fips", false, "use an endpoint of AWS STS with cryptography validated by FIPS 140")
	return cmd
}

// printToken prints the answer of a credential plug-in.
func (a *app) printToken(ctx context.Context, request ekstoken.Request) error {
	version, err := ekstoken.Version(os.Getenv("KUBERNETES_EXEC_INFO"))
	if err != nil {
		return command.Failed("%w", err)
	}
	service, err := metadata.New(facts.EC2, nil)
	if err != nil {
		return command.Failed("%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, tokenPatience)
	defer cancel()
	token, err := ekstoken.Get(ctx, service, request, time.Now)
	if err != nil {
		return command.Failed("%w", err)
	}
	answer, err := ekstoken.Answer(version, token)
	if err != nil {
		return command.Failed("%w", err)
	}
	return command.Write(a.Streams, string(answer)+"\n")
}
