package plan

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// certificate plans that a node with a bootstrap token has its certificate before its kubelet starts. A kubelet asks for it
// when it has read its settings, looks once a second whether it has come, and only then becomes a client of the API server.
// Nothing of that needs the container runtime, so it is done while that starts.
var certificate = concern{
	name:  "certificate",
	joins: true,
	reads: []string{
		"$.checks.apiServerTimeout",
		"$.cluster.certificateAuthority",
		pinsPath,
		"$.cluster.server",
		skipPath,
		"$.join.bootstrapToken",
		"$.kubelet.flags",
		"$.kubelet.nodeName",
	},
	plan: planCertificate,
}

// ownNamed are the cloud providers whose Nodes have the host's name: none, one outside the kubelet, and Azure's within it
// (Kubernetes: kubelet, getNodeName; legacy-cloud-providers, azure: CurrentNodeName). Of every other the cloud names the
// Node, and the kubelet asks.
var ownNamed = []string{"", "external", "azure"}

// asksEarly reports whether the agent asks for the kubelet's certificate.
func asksEarly(in *input) bool {
	return in.method == nodeconfig.JoinBootstrapToken && in.certificate != "" &&
		slices.Contains(ownNamed, kubeletSetting(in.config.Kubelet, "cloud-provider", "", ""))
}

func planCertificate(in *input, out *output) {
	if !asksEarly(in) {
		return
	}
	c := in.config
	requires := []resource.ID{outboundGroup.all()}
	if nodeName(c.Kubelet) == "" {
		requires = append(requires, hostNameGroup.all())
	}
	out.addTo(certificateGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: requires,
		After:    []resource.ID{namedGroup.all()},
		Reason:   "the node has its certificate before its kubelet starts (Kubernetes: TLS bootstrapping)",
		Spec: &resource.Certificate{
			Label: "kubelet-client",
			APIServer: resource.APIServer{
				Server:               c.Cluster.Server,
				CertificateAuthority: c.Cluster.CertificateAuthority,
				Token:                resource.Hidden{Secret: c.Join.BootstrapToken},
			},
			Node:              nodeName(c.Kubelet),
			Usages:            tlsbootstrap.Usages(!in.reached(encipherless)),
			Directory:         path.Dir(in.certificate),
			Kubeconfig:        in.family.Paths.Kubeconfig,
			KubeconfigContent: string(joinedKubeconfig(in)),
			Unit:              kubeletUnit,
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
	out.belong(firstGroup)
}

// joinedKubeconfig is what a kubelet writes when it has its certificate (Kubernetes: pkg/kubelet/certificate/bootstrap,
// writeKubeconfigFromBootstrapping).
func joinedKubeconfig(in *input) []byte {
	names := entries{cluster: "default-cluster", context: "default-context", user: "default-auth", namespace: "default"}
	return kubeconfigFile(in, names, fieldsOf("client-certificate", in.certificate, "client-key", in.certificate))
}
