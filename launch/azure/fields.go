package azure

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
)

// fields are the sources that may set each field (AKS Node Bootstrapping: "Karpenter configuration sources"). The longest path counts.
var fields = withEntries(map[string][]launch.Source{
	"$.node.cluster.name":                                    {launch.Global},
	"$.node.cluster.server":                                  {launch.Global},
	"$.node.cluster.kubernetesVersion":                       {launch.Detected, launch.Global},
	"$.node.cluster.certificateAuthority":                    {launch.Detected},
	"$.node.cluster.dnsServiceIPs":                           {launch.Computed},
	"$.node.join.method":                                     {launch.Hardcoded, launch.Global},
	"$.node.kubelet.config":                                  {launch.Hardcoded, launch.Class},
	"$.node.kubelet.config.clusterDNS":                       {launch.Computed},
	"$.node.kubelet.config.maxPods":                          {launch.Computed},
	"$.node.kubelet.config.kubeReserved":                     {launch.Computed},
	`$.node.kubelet.config.evictionHard["memory.available"]`: {launch.Computed},
	"$.node.kubelet.config.streamingConnectionIdleTimeout":   {launch.Computed},
	"$.node.kubelet.config.featureGates":                     {launch.Computed},
	"$.node.kubelet.flags":                                   {launch.Computed},
	"$.node.kubelet.imageCredentialProvider":                 {launch.Computed},
	"$.node.kubelet.labels":                                  {launch.Hardcoded, launch.Pool},
	"$.node.kubelet.taints":                                  {launch.Pool},
	"$.node.runtime":                                         {launch.Hardcoded, launch.Class},
	"$.node.runtime.lazyPull":                                {launch.Computed},
	"$.node.network":                                         {launch.Computed},
	"$.node.network.localDNS":                                {launch.Class},
	"$.node.system":                                          {launch.Class},
	"$.node.trust":                                           {launch.Class},
	"$.node.proxy":                                           {launch.Class},
	"$.node.access":                                          {launch.Class},
	"$.node.checks":                                          {launch.Class},
	"$.node.files":                                           {launch.Class},
	"$.node.units":                                           {launch.Class},
	"$.node.commands":                                        {launch.Class},
	"$.node.system.sysctls":                                  {launch.Hardcoded, launch.Class},
	"$.node.system.swapDisk":                                 {launch.Class},
	"$.node.system.swapMB":                                   {launch.Class},
	"$.node.system.transparentHugePages":                     {launch.Class},
	"$.node.system.gpu":                                      {launch.Computed},
	"$.node.cloud.provider":                                  {launch.Hardcoded},
	"$.node.cloud.instanceType":                              {launch.Detected},
	"$.node.cloud.azure":                                     {launch.Hardcoded},
	"$.node.cloud.azure.environment":                         {launch.Hardcoded, launch.Environment},
	"$.node.cloud.azure.tenantID":                            {launch.Environment},
	"$.node.cloud.azure.subscriptionID":                      {launch.Environment},
	"$.node.cloud.azure.location":                            {launch.Environment},
	"$.node.cloud.azure.resourceGroup":                       {launch.Detected, launch.Global},
	"$.node.cloud.azure.identity.userAssignedID":             {launch.Detected, launch.Global},
	"$.node.cloud.azure.subnet":                              {launch.Computed},
	"$.node.cloud.azure.vnet":                                {launch.Computed},
	"$.node.cloud.azure.vnetResourceGroup":                   {launch.Computed},
	"$.node.cloud.azure.securityGroup":                       {launch.Computed},
	"$.node.cloud.azure.routeTable":                          {launch.Computed},
	"$.node.components":                                      {launch.Hardcoded},
	"$.node.components.scriptVariables":                      {launch.Computed},

	"$.machine.type":                  {launch.Detected},
	"$.machine.zone":                  {launch.Pool},
	"$.machine.capacityType":          {launch.Hardcoded, launch.Pool},
	"$.machine.maxPods":               {launch.Class},
	"$.machine.driftOnRelease":        {launch.Class},
	"$.machine.image":                 {launch.Computed},
	"$.machine.image.wanted":          {launch.Hardcoded, launch.Class},
	"$.machine.image.fips":            {launch.Class},
	"$.machine.disk.sizeGB":           {launch.Hardcoded, launch.Class},
	"$.machine.disk.ephemeral":        {launch.Computed},
	"$.machine.disk.placement":        {launch.Computed},
	"$.machine.disk.encryptionSet":    {launch.Global},
	"$.machine.network":               {launch.Hardcoded, launch.Detected, launch.Global},
	"$.machine.network.id":            {launch.Hardcoded, launch.Detected, launch.Global},
	"$.machine.network.subnet":        {launch.Detected, launch.Global, launch.Class},
	"$.machine.network.securityGroup": {launch.Computed},
	"$.machine.network.addresses":     {launch.Computed},
	"$.machine.network.accelerated":   {launch.Computed},
	"$.machine.security":              {launch.Class},
	"$.machine.adminUser":             {launch.Hardcoded, launch.Global},
	"$.machine.sshPublicKey":          {launch.Global},
	"$.machine.userData":              {launch.Class},
	"$.machine.identities":            {launch.Global},
	"$.machine.gpuDriver":             {launch.Hardcoded, launch.Class},
	"$.machine.gpuDriverVersion":      {launch.Computed},
	"$.machine.ultraSSD":              {launch.Computed},
	"$.machine.streaming":             {launch.Class},
	"$.machine.memoryOverhead":        {launch.Hardcoded, launch.Global},
	"$.machine.capacity":              {launch.Computed},
	"$.machine.allocatable":           {launch.Computed},
	"$.machine.tags":                  {launch.Global, launch.Class},
})

// withEntries adds the map entries whose sources differ from those of their map.
func withEntries(all map[string][]launch.Source) map[string][]launch.Source {
	for _, entries := range []struct {
		path    string
		keys    []string
		sources []launch.Source
	}{
		{"$.machine.tags", ownTags, []launch.Source{launch.Computed}},
		{"$.node.kubelet.labels", labelKeys(), []launch.Source{launch.Computed}},
		{"$.node.kubelet.labels", poolLabels, []launch.Source{launch.Hardcoded, launch.Pool}},
	} {
		for _, key := range entries.keys {
			all[document.FieldPath(entries.path, key)] = entries.sources
		}
	}
	return all
}

func labelKeys() []string {
	keys := make([]string, len(labelRows))
	for i, r := range labelRows {
		keys[i] = r.key
	}
	return keys
}
