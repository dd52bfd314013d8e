package runtime

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// namesPolicy reports whether the contract wants an engine of network policies.
func namesPolicy(c *nodeconfig.NodeConfig) bool {
	return c.Network.Policy != "" && c.Network.Policy != "none"
}

// cni prepares CNI's directories, and the plug-in's configuration if the node has one.
var cni = concern.Concern{
	Name:  "CNI",
	Reads: []string{setting.Artifact(concern.AzureCNIName), setting.NetworkPlugin, "$.network.policy"},
	Plan:  planCNI,
}

func planCNI(in *concern.Input, out *concern.Output) {
	out.Directory(concern.CNIBinDir, 0o755, "CNI plug-ins")
	out.Directory(concern.CNIConfDir, 0o755, "CNI configuration")
	switch {
	case Kubenet(in.Config):
		out.File(resource.Base, concern.KubenetFile, 0o644, []byte(kubenetTemplateOf(in)), concern.Sourced("containerd fills in the node's pod range", in.Family.Sources.Kubenet), concern.ContainerdUnit)
	case in.Config.Network.Plugin == "azure":
		out.File(resource.Base, concern.CNIConfDir+"/10-azure.conflist", 0o600, []byte(azureConflist(in)), concern.Sourced("Azure's CNI", in.Family.Sources.AzureCNI))
	}
	if in.Config.Network.Plugin != "kubenet" && namesPolicy(in.Config) && in.Family.Kubelet.Variable(profile.NetworkPolicy) == "" {
		out.NotApplied("$.network.policy") // the network's installer brings the network's policies
	}
}

// hairpin has the bridge send a packet of a pod to its own Service back to the port that it is from. A bridge in promiscuous mode
// takes it in itself, and delivers some packets twice (Kubernetes: kubelet, hairpinMode; CNI plug-ins: bridge).
var hairpin = strings.NewReplacer(`"promiscMode": true`, `"promiscMode": false`, `"hairpinMode": false`, `"hairpinMode": true`)

// kubenetTemplateOf returns a machine's template: AKS's, if the image has the unit that drops duplicate packets. That unit's rules
// contain the pod range, which the cluster assigns later, so no plan can have them.
func kubenetTemplateOf(in *concern.Input) string {
	drops := slices.ContainsFunc(in.Family.Host.Units, func(u profile.ImageUnit) bool { return u.Plugin == "kubenet" && in.ImageUnit(u.Unit) != "" })
	if drops || !in.Seen() {
		return KubenetTemplate
	}
	return hairpin.Replace(KubenetTemplate)
}

// KubenetTemplate is containerd's template of a CNI configuration, in AKS's own layout; the braces are containerd's
// (containerd: docs/cri/config.md, "CNI Config Template"; AKS node contract: kubenet template).
const KubenetTemplate = `{
	"cniVersion": "0.3.1",
	"name": "kubenet",
	"plugins": [{
		"type": "bridge",
		"bridge": "cbr0",
		"mtu": 1500,
		"addIf": "eth0",
		"isGateway": true,
		"ipMasq": false,
		"promiscMode": true,
		"hairpinMode": false,
		"ipam": {
			"type": "host-local",
			"ranges": [{{range $i, $range := .PodCIDRRanges}}{{if $i}}, {{end}}[{"subnet": "{{$range}}"}]{{end}}],
			"routes": [{{range $i, $route := .Routes}}{{if $i}}, {{end}}{"dst": "{{$route}}"}{{end}}]
		}
	},
	{
		"type": "portmap",
		"capabilities": {"portMappings": true},
		"externalSetMarkChain": "KUBE-MARK-MASQ"
	}]
}
`
