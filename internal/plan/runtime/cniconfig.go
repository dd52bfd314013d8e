package runtime

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// azureConflist returns Azure's configuration: the package's, or, without a package, the text of current packages.
// With Calico, pods are routed also if an old package would bridge them (AKS: configureCNIIPTables).
func azureConflist(in *concern.Input) string {
	text := ""
	if known := in.Facts.CNI; known != nil && in.Family.Host.CNIPackages {
		text = known.Conflist
		if p, ok := known.Package(packageName(in.Config.Components.Artifacts["azure-cni"].URL)); ok && p.Conflist != "" {
			text = p.Conflist
		}
	}
	if text == "" {
		return azureConf
	}
	if in.Config.Network.Policy == "calico" {
		text = strings.ReplaceAll(text, `"mode":"bridge"`, `"mode":"transparent"`)
	}
	return text
}

// azureConf is Azure's CNI configuration, as in its packages and on AKS nodes (Azure/azure-container-networking:
// cni/azure-linux.conflist). Pods are routed, with every policy engine and without one. The address is the listener of the node's
// DNS cache, which pods reach through the node.
const azureConf = `{
   "cniVersion":"0.3.0",
   "name":"azure",
   "plugins":[
      {
         "type":"azure-vnet",
         "mode":"transparent",
         "ipsToRouteViaHost":["169.254.20.10"],
         "ipam":{
            "type":"azure-vnet-ipam"
         }
      },
      {
         "type":"portmap",
         "capabilities":{
            "portMappings":true
         },
         "snat":true
      }
   ]
}
`

// packageName is the directory that AKS's scripts look for a package in: the last name of its URL.
func packageName(url string) string {
	return strings.TrimSuffix(url[strings.LastIndexByte(url, '/')+1:], ".tgz")
}

// Kubenet reports whether containerd makes the CNI configuration from the node's own range (AKS:
// kubenet, unless Calico brings a configuration).
func Kubenet(c *nodeconfig.NodeConfig) bool {
	n := c.Network
	return n.Plugin == "kubenet" && n.Policy != "calico"
}
