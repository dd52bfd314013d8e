package azure

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Where the parts of a node of AKS are (AKS node contract, "on the node").
const (
	credentialBin     = "/var/lib/kubelet/credential-provider"
	sandboxImage      = "mcr.microsoft.com/oss/kubernetes/pause:3.6"
	clusterDNSDefault = "10.0.0.10"
)

// aksPaths are the paths of a node of AKS.
var aksPaths = profile.Named(nodeconfig.LayoutAKS).Paths

// flagRow is a kubelet flag that is not in the kubelet's configuration file, with the minors of Kubernetes that have it.
type flagRow struct {
	name, value  string
	since, until int // 0 for no limit; until is not included
	// aks is true if only AKS nodes have the flag, because its value belongs to AKS's images.
	aks bool
}

// flagRows are the kubelet's flags (Karpenter for Azure: bootstrap/aksbootstrap.go, version gates). The planner also leaves out flags that
// the kubelet's version does not know.
var flagRows = []flagRow{
	{"azure-container-registry-config", aksPaths.CloudConfig, 0, 30, true},
	{"cloud-config", aksPaths.CloudConfig, 0, 34, true},
	{"cloud-provider", "external", 0, 0, false},
	{"feature-gates", "DisableKubeletCloudCredentialProviders=false", 0, 30, true},
	{"keep-terminated-pod-volumes", "false", 0, 31, true},
	{"pod-infra-container-image", sandboxImage, 0, 35, true},
}

// sinceCredentialProvider is the first minor whose kubelet gets registry credentials from a plug-in.
const sinceCredentialProvider = 30

// credentialProviders is that plug-in's configuration. All launches share it. Any argument may be a credential.
var credentialProviders = akstext.CredentialProvider(akstext.Registries(), []any{nodeconfig.NewSecret(aksPaths.CloudConfig)}, false)

// kubeletConfig returns the configuration that all kubelets share (Karpenter for Azure: bootstrap/aksbootstrap.go, the base flags, as
// fields of the configuration file).
func kubeletConfig() map[string]any {
	n := func(digits string) json.Number { return json.Number(digits) }
	return map[string]any{
		"address": "0.0.0.0",
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": "/etc/kubernetes/certs/ca.crt"},
		},
		"authorization":               map[string]any{"mode": "Webhook"},
		"cgroupsPerQOS":               true,
		"clusterDomain":               nodeconfig.DefaultDNSDomain,
		"enforceNodeAllocatable":      []any{"pods"},
		"eventRecordQPS":              n("0"),
		"evictionHard":                map[string]any{"nodefs.available": "10%", "nodefs.inodesFree": "5%"},
		"imageGCHighThresholdPercent": n("85"),
		"imageGCLowThresholdPercent":  n("80"),
		"nodeStatusUpdateFrequency":   "10s",
		"podPidsLimit":                n("-1"),
		"protectKernelDefaults":       true,
		"readOnlyPort":                n("0"),
		"resolvConf":                  "/run/systemd/resolve/resolv.conf",
		"rotateCertificates":          true,
		"staticPodPath":               "/etc/kubernetes/manifests",
		"systemReserved":              map[string]any{"cpu": "0", "memory": "0"},
		"tlsCertFile":                 "/etc/kubernetes/certs/kubeletserver.crt",
		"tlsPrivateKeyFile":           "/etc/kubernetes/certs/kubeletserver.key",
		"tlsCipherSuites": []any{
			"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
			"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
			"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
			"TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_GCM_SHA256",
		},
	}
}

// kubeletRule decides what depends on the version.
var kubeletRule = rule{
	name: "kubelet",
	reads: []string{
		"$.node.cluster.kubernetesVersion", "$.machine.network.dns", "$.node.network.localDNS", "$.node.kubelet.config.cpuCFSQuotaPeriod",
		"$.machine.image.wanted",
	},
	sets: []string{
		"$.node.kubelet.flags", "$.node.kubelet.imageCredentialProvider", "$.node.kubelet.config.clusterDNS",
		"$.node.kubelet.config.streamingConnectionIdleTimeout", "$.node.kubelet.config.featureGates", "$.node.cluster.dnsServiceIPs",
	},
	decide: func(p *problems, d *launch.Document) {
		k, version := &d.Node.Kubelet, d.Node.Cluster.KubernetesVersion
		k.Flags = flags(version, isOwn(d))
		if !isOwn(d) && versions.AtLeast(version, sinceCredentialProvider) {
			k.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: credentialBin, ConfigFile: aksPaths.CredentialConfig, Config: credentialProviders}
		}
		dns := make([]any, 0, 1)
		for _, ip := range d.Machine.Network.DNS {
			dns = append(dns, ip)
		}
		if d.Node.Network.LocalDNS != nil {
			// The cache asks the cluster's DNS, and pods ask the cache.
			d.Node.Cluster.DNSServiceIPs, dns = d.Machine.Network.DNS, []any{dnscache.PodsListener}
		}
		if len(dns) == 0 { // AKS's clusters have a usual one
			p.Report(true, nodeconfig.Missing, "$.machine.network.dns", "is not known, and pods would resolve no name; set dns-service-ip, or detect it")
		} else {
			k.Config["clusterDNS"] = dns
		}
		if !versions.AtLeast(version, akstext.IdleTimeoutIgnored) {
			k.Config["streamingConnectionIdleTimeout"] = "4h0m0s"
		}
		if period, ok := k.Config["cpuCFSQuotaPeriod"].(string); ok {
			minor, ok := versions.Minor(version)
			if gate := kubeletapi.QuotaGate(minor, period); ok && gate != "" {
				k.Config["featureGates"] = map[string]any{gate: true}
			}
		}
	},
}

// flags are the kubelet's flags in a version.
func flags(version string, own bool) []nodeconfig.Flag {
	all := make([]nodeconfig.Flag, 0, len(flagRows))
	for _, r := range flagRows {
		if !(own && r.aks) && (r.since == 0 || versions.AtLeast(version, r.since)) && (r.until == 0 || !versions.AtLeast(version, r.until)) {
			all = append(all, nodeconfig.Flag{Name: r.name, Value: r.value})
		}
	}
	return all
}
