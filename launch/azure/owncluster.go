package azure

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// custom is the image family of a self-managed cluster on Azure, not AKS. Its nodes have the owner's image and kubeadm's paths, and
// nothing that only AKS needs.
const custom = "Custom"

// isOwn reports whether a node is of such a cluster.
func isOwn(d *launch.Document) bool { return d.Machine.Image.Wanted == custom }

// aksDomain is the domain of the labels that AKS's own programs look for.
const aksDomain = "kubernetes.azure.com/"

// own has the values that are the same for all nodes of a self-managed cluster. No code changes it. The thresholds are the kubelet's
// defaults: if a configuration sets some of them, the kubelet drops the other defaults (Kubernetes: KubeletConfiguration, evictionHard).
var own = launch.Layer{Source: launch.Hardcoded, Origin: "self-managed cluster", Document: &launch.Document{
	Node: nodeconfig.NodeConfig{
		Join: nodeconfig.Join{Method: nodeconfig.JoinBootstrapToken},
		Kubelet: nodeconfig.Kubelet{
			Config: map[string]any{"evictionHard": map[string]any{
				"imagefs.available": "15%", "imagefs.inodesFree": "5%", "nodefs.available": "10%", "nodefs.inodesFree": "5%",
			}},
			Labels: map[string]string{labelUltraSSD: "false"},
		},
		Cloud:      azureCloud(),
		Components: nodeconfig.Components{Layout: nodeconfig.LayoutStandard},
	},
	Machine: launch.Machine{CapacityType: onDemand, GPUDriver: noDriver, Disk: launch.Disk{SizeGB: standardDisk}},
}}

// OwnDefinition is a definition of the owner's images, in the owner's gallery.
type OwnDefinition struct {
	// Name is the definition's in its gallery.
	Name string `json:"name"`
	// Architecture is Kubernetes': "amd64", "arm64". Generation is that of the hypervisor: "1", "2".
	Architecture string `json:"architecture"`
	Generation   string `json:"generation"`
	// TrustedLaunch and FIPS are what the image can do. It is also taken where that is not wanted.
	TrustedLaunch bool `json:"trustedLaunch,omitempty"`
	FIPS          bool `json:"fips,omitempty"`
}

// definitions checks the definitions of a list.
func (p *problems) definitions(list []OwnDefinition) {
	seen := make(map[string]bool, len(list))
	for n := range list {
		at, d := document.IndexPath("$.definitions", n), &list[n]
		switch {
		case !isResourceName(d.Name):
			p.wrong(at+".name", "is not the name of an image's definition")
		case seen[d.Name]:
			p.wrong(at+".name", "is there twice; the first one would be taken")
		}
		seen[d.Name] = true
		p.oneOf(at+".architecture", &d.Architecture, []string{"amd64", "arm64"})
		p.oneOf(at+".generation", &d.Generation, both)
	}
}

// suitableOwn are the definitions of one's own that a machine boots, in the order of the list.
func suitableOwn(list []OwnDefinition, m *launch.Machine) []*definition {
	var found []*definition
	for i := range list {
		d := &list[i]
		if d.Architecture == m.Type.Architecture && slices.Contains(m.Type.Generations, d.Generation) &&
			(d.TrustedLaunch || !m.Security.Trusted()) && (d.FIPS || !value(m.Image.FIPS)) {
			found = append(found, &definition{family: custom, architecture: d.Architecture, generation: d.Generation, name: d.Name})
		}
	}
	return found
}
