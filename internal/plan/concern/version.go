package concern

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gate is a change of behaviour at a Kubernetes 1.x minor version.
type gate int

// The gates, each with its source.
const (
	// ContainerRuntimeFlag: before it, --container-runtime=remote is needed; from it on, the flag
	// is gone (Kubernetes 1.27 removal; AKS: 10-container-runtime-flag.conf).
	ContainerRuntimeFlag gate = 27
	// Encipherless: from it on, a kubelet asks for no certificate to encipher keys with (kubernetes/kubernetes#111660).
	Encipherless gate = 27
	// ConfigDropIns: since then, the kubelet merges a directory of drop-ins over its configuration (--config-dir, KEP-3983). The
	// version before has the flag, too, but if a drop-in does not set a field, it replaces the configuration's value with the
	// default (k8s.io/kubernetes v1.28.15 cmd/kubelet/app/server.go, mergeKubeletConfigurations).
	ConfigDropIns gate = 29
	// ConfigDropInsOn: from it on, no variable of the kubelet's environment has to turn that on.
	ConfigDropInsOn gate = 30
	// ConfigDropInsWhole: from it on, the kubelet takes every field of a drop-in (kubernetes/kubernetes v1.32.0, the same function).
	ConfigDropInsWhole gate = 32
	// ThresholdsMerged: from it on, a kubelet can merge its default thresholds of eviction into those of its configuration
	// (KubeletConfiguration, mergeDefaultEvictionSettings).
	ThresholdsMerged gate = 33
	// SandboxFlagGone: since then, --pod-infra-container-image does not exist (kubernetes/kubernetes#133779).
	SandboxFlagGone gate = 35
	// nodeIPNeeded: from it on, a kubelet with an external cloud provider that is given no address
	// registers without one (Kubernetes 1.29; AKS: --node-ip).
	nodeIPNeeded gate = 29
	// WatchdogSupported: from it on, the kubelet answers systemd's watchdog (SystemdWatchdog, on by
	// default from 1.32; AKS: 10-watchdog.conf).
	WatchdogSupported gate = 32
	// InstanceConfig: since then, kubeadm keeps the container runtime's socket in a file on the node, instead of in an annotation
	// of the Node (k8s.io/kubernetes v1.34.4 cmd/kubeadm/app/features/features.go, NodeLocalCRISocket).
	InstanceConfig gate = 34
	// IdleTimeoutIgnored: from it on, the kubelet reads its streaming connections' idle timeout nowhere.
	IdleTimeoutIgnored gate = akstext.IdleTimeoutIgnored
	// CgroupV2Needed: since then, the kubelet does not start with control groups of version 1, unless its configuration allows
	// it (KubeletConfiguration, failCgroupV1; KEP-5573).
	CgroupV2Needed gate = 35
)

// Reached reports whether the node's version is at or beyond a gate.
func (in *Input) Reached(g gate) bool { return in.Minor >= int(g) }

// Newest stands for an unknown version: an image is baked for future versions.
const Newest = 1 << 10

// MinorOf returns the minor of a Kubernetes 1.x version.
func MinorOf(version string) int {
	if minor, ok := versions.Minor(version); ok {
		return minor
	}
	return Newest
}

// plannedMinor is the minor version that the node is planned for. If no program of the machine is known, it is the version that the
// contract expects, also on a machine whose operating system is known: a kubelet does not start with settings of a later version
// (Kubernetes: a feature gate that it does not know). [KubernetesVersion] falls back to it only if the operating
// system is not known either: for an image without a kubelet, its empty result is reported to the author.
func plannedMinor(c *nodeconfig.NodeConfig, f facts.Facts) int {
	if minor := MinorOf(c.Cluster.KubernetesVersion); minor != Newest || len(f.Components) > 0 || c.Cluster.KubernetesMinor == "" {
		return minor
	}
	return MinorOf(c.Cluster.KubernetesMinor)
}

// KubernetesVersion returns the version of the node's kubelet: the one that the contract names, or that of the machine's kubelet if the
// contract takes what is installed. If there are several kubelets, the one at the family's own path is taken. Without facts it is of the minor
// version that the contract expects. Empty means that it is not known.
func KubernetesVersion(c *nodeconfig.NodeConfig, f facts.Facts) string {
	if c.Cluster.KubernetesVersion != nodeconfig.InstalledVersion {
		return c.Cluster.KubernetesVersion
	}
	own := profile.Of(c.Components.Layout).Paths.Kubelet
	all := make(map[string]bool)
	for _, component := range f.Components {
		version := Release(component.Version)
		switch {
		case component.Name != "kubelet" || strings.Count(version, ".") < 2:
		case component.Path == own:
			return version
		default:
			all[version] = true
		}
	}
	switch {
	case len(all) == 1:
		return slices.Collect(maps.Keys(all))[0]
	case hasNoFacts(f) && c.Cluster.KubernetesMinor != "":
		return c.Cluster.KubernetesMinor + ".0"
	}
	return ""
}

// Release returns a version without its builder's suffix: 1.30.4 of "v1.30.4-eks-1fbb135". Other texts stay as they are.
func Release(version string) string {
	if v, ok := versions.Parse(version); ok {
		return v.String()
	}
	return version
}
