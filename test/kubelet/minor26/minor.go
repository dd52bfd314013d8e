package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/info/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	_ "k8s.io/kubernetes/pkg/credentialprovider/plugin" // for go:linkname
	"k8s.io/kubernetes/pkg/features"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpuset"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	utilcodec "k8s.io/kubernetes/pkg/kubelet/kubeletconfig/util/codec"
	"k8s.io/kubernetes/pkg/kubelet/logs"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	netutils "k8s.io/utils/net"
)

// The kubelet's description of a machine.
type (
	CPUSet      = cpuset.CPUSet
	MachineInfo = cadvisorapi.MachineInfo
	Node        = cadvisorapi.Node
	Core        = cadvisorapi.Core
)

func decode(data []byte) (*kubeletconfig.KubeletConfiguration, error) {
	return utilcodec.DecodeKubeletConfiguration(codecs, data)
}

// complete is what loadConfigFile adds, cmd/kubelet/app/server.go.
func complete(kc *kubeletconfig.KubeletConfiguration) {
	if kc.EvictionHard == nil {
		kc.EvictionHard = eviction.DefaultEvictionHard
	}
}

func setCgroups(bool) {} // no check of this minor depends on it

func moreDependencies(*kubeletconfig.KubeletConfiguration) error { return nil }

func hostname(override string) error {
	_, err := nodeutil.GetHostname(override)
	return err
}

func roundCPU(*resource.Quantity) {} // not in this minor

var parseCPUs = cpuset.Parse

func onlineCPUs(info *MachineInfo) (set CPUSet, err error) {
	topo, err := topology.Discover(info)
	if err != nil {
		return set, err
	}
	return topo.CPUDetails.CPUs(), nil
}

func managers(n *node, state string) error {
	kc, gates := n.kc, utilfeature.DefaultFeatureGate
	if !gates.Enabled(features.CPUManagerPolicyOptions) && kc.CPUManagerPolicyOptions != nil {
		return fmt.Errorf("CPU Manager policy options %v require feature gate %q", kc.CPUManagerPolicyOptions, features.CPUManagerPolicyOptions)
	}
	affinity := topologymanager.NewFakeManager()
	if gates.Enabled(features.TopologyManager) {
		if !gates.Enabled(features.TopologyManagerPolicyOptions) && kc.TopologyManagerPolicyOptions != nil {
			return fmt.Errorf("topology manager policy options %v require feature gate %q", kc.TopologyManagerPolicyOptions, features.TopologyManagerPolicyOptions)
		}
		var err error
		if affinity, err = topologymanager.NewManager(n.info.Topology, kc.TopologyManagerPolicy, kc.TopologyManagerScope, kc.TopologyManagerPolicyOptions); err != nil {
			return err
		}
	}
	set, err := reservedCPUs(n.info, kc.ReservedSystemCPUs)
	if err != nil {
		return err
	}
	if _, err := cpumanager.NewManager(kc.CPUManagerPolicy, kc.CPUManagerPolicyOptions, kc.CPUManagerReconcilePeriod.Duration, n.info, set, n.reservation(), state, affinity); err != nil {
		return err
	}
	if gates.Enabled(features.MemoryManager) {
		_, err = memorymanager.NewManager(kc.MemoryManagerPolicy, n.info, n.reservation(), kc.ReservedMemory, state, affinity)
	}
	return err
}

// nodeIPs is of RunKubelet, cmd/kubelet/app/server.go.
func nodeIPs(flags *options.KubeletFlags) error {
	var ips []net.IP
	for _, text := range strings.Split(flags.NodeIP, ",") {
		if ip := netutils.ParseIPSloppy(strings.TrimSpace(text)); ip != nil {
			ips = append(ips, ip)
		}
	}
	switch two := len(ips) == 2; {
	case len(ips) > 2, two && netutils.IsIPv6(ips[0]) == netutils.IsIPv6(ips[1]):
		return fmt.Errorf("bad --node-ip %q; must contain either a single IP or a dual-stack pair of IPs", flags.NodeIP)
	case two && flags.CloudProvider != "":
		return fmt.Errorf("dual-stack --node-ip %q not supported when using a cloud provider", flags.NodeIP)
	case two && (ips[0].IsUnspecified() || ips[1].IsUnspecified()):
		return fmt.Errorf("dual-stack --node-ip %q cannot include '0.0.0.0' or '::'", flags.NodeIP)
	}
	return nil
}

func containerLogs(kc *kubeletconfig.KubeletConfiguration) error {
	_, err := logs.NewContainerLogManager(nil, nil, kc.ContainerLogMaxSize, int(kc.ContainerLogMaxFiles))
	return err
}

//go:linkname readCredentialProviderConfigFile k8s.io/kubernetes/pkg/credentialprovider/plugin.readCredentialProviderConfigFile
func readCredentialProviderConfigFile(path string) (*kubeletconfig.CredentialProviderConfig, error)

//go:linkname validateCredentialProviderConfig k8s.io/kubernetes/pkg/credentialprovider/plugin.validateCredentialProviderConfig
func validateCredentialProviderConfig(config *kubeletconfig.CredentialProviderConfig) field.ErrorList

// credentialProviders is RegisterCredentialProviderPlugins without the programs, which it would look for.
func credentialProviders(path string) error {
	config, err := readCredentialProviderConfigFile(path)
	if err != nil {
		return err
	}
	if err := validateCredentialProviderConfig(config).ToAggregate(); err != nil {
		return err
	}
	return named(config)
}

func safeSysctls() []string { return sysctl.SafeSysctlAllowlist() }

// moreOfKubelet are the checks of RunKubelet and NewMainKubelet that this minor has.
func moreOfKubelet(flags *options.KubeletFlags, kc *kubeletconfig.KubeletConfiguration) error {
	gates := utilfeature.DefaultFeatureGate
	switch {
	case kc.SeccompDefault && !gates.Enabled(features.SeccompDefault):
		return errors.New("the SeccompDefault feature gate must be enabled in order to use the SeccompDefault configuration")
	case kc.MakeIPTablesUtilChains && kc.IPTablesDropBit == kc.IPTablesMasqueradeBit:
		return errors.New("iptables-masquerade-bit and iptables-drop-bit must be different")
	case gates.Enabled(features.DisableCloudProviders) && cloudprovider.IsDeprecatedInternal(flags.CloudProvider):
		return fmt.Errorf("cloud provider %q was specified, but built-in cloud providers are disabled", flags.CloudProvider)
	}
	return nil
}
