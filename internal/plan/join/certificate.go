package join

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// certificate plans that a node with a bootstrap token has its certificate before its kubelet starts. A kubelet asks for it
// when it has read its settings, looks once a second whether it has come, and only then becomes a client of the API server.
// Nothing of that needs the container runtime, so it is done while that starts.
var certificate = concern.Concern{
	Name:  "certificate",
	Joins: true,
	Reads: []string{
		"$.checks.apiServerTimeout",
		"$.cluster.certificateAuthority",
		setting.AuthorityHashes,
		"$.cluster.server",
		setting.SkipVerification,
		"$.join.bootstrapToken",
		"$.kubelet.flags",
		"$.kubelet.nodeName",
	},
	Plan: planCertificate,
}

// ownNamed are the cloud providers whose Nodes have the host's name: none, one outside the kubelet, and Azure's within it
// (Kubernetes: kubelet, getNodeName; legacy-cloud-providers, azure: CurrentNodeName). Of every other the cloud names the
// Node, and the kubelet asks.
var ownNamed = []string{"", "external", "azure"}

// asksEarly reports whether the agent asks for the kubelet's certificate.
func asksEarly(in *concern.Input) bool {
	return in.Method == nodeconfig.JoinBootstrapToken && in.Certificate != "" &&
		slices.Contains(ownNamed, kubeletsetting.Value(in.Config.Kubelet, "cloud-provider", "", ""))
}

func planCertificate(in *concern.Input, out *concern.Output) {
	if !asksEarly(in) {
		return
	}
	c := in.Config
	requires := []resource.ID{concern.OutboundGroup.All()}
	if kubeletsetting.NodeName(c.Kubelet) == "" {
		requires = append(requires, concern.HostNameGroup.All())
	}
	out.AppendTo(concern.CertificateGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: requires,
		After:    []resource.ID{concern.NamedGroup.All()},
		Reason:   "the node has its certificate before its kubelet starts (Kubernetes: TLS bootstrapping)",
		Spec: &resource.Certificate{
			Label: "kubelet-client",
			APIServer: resource.APIServer{
				Server:               c.Cluster.Server,
				CertificateAuthority: c.Cluster.CertificateAuthority,
				Token:                resource.Hidden{Secret: c.Join.BootstrapToken},
			},
			Node:              kubeletsetting.NodeName(c.Kubelet),
			Usages:            tlsbootstrap.Usages(!in.Reached(concern.Encipherless)),
			Directory:         path.Dir(in.Certificate),
			Kubeconfig:        in.Family.Paths.Kubeconfig,
			KubeconfigContent: string(joinedKubeconfig(in)),
			Unit:              concern.KubeletUnit,
			Patience:          c.Checks.APIServerTimeout,
			ExitCodes: map[resource.Cause]int{
				resource.CauseForbidden:  exitcode.CertificateRefused,
				resource.CauseDenied:     exitcode.CertificateRefused,
				resource.CauseUnapproved: exitcode.CertificateRefused,
				resource.CauseSigner:     exitcode.CertificateRefused,
				resource.CauseUnusable:   exitcode.CertificateRefused,
			},
		},
	})
	out.Belong(concern.FirstGroup)
}

// joinedKubeconfig is what a kubelet writes when it has its certificate (Kubernetes: pkg/kubelet/certificate/bootstrap,
// writeKubeconfigFromBootstrapping).
func joinedKubeconfig(in *concern.Input) []byte {
	names := entries{cluster: "default-cluster", context: "default-context", user: "default-auth", namespace: "default"}
	return kubeconfigFile(in, names, fieldsOf("client-certificate", in.Certificate, "client-key", in.Certificate))
}
