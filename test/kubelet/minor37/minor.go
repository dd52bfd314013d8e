package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cloudprovider "k8s.io/cloud-provider"
	cliflag "k8s.io/component-base/cli/flag"
	nodeutil "k8s.io/component-helpers/node/util"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	_ "k8s.io/kubernetes/pkg/credentialprovider/plugin" // for go:linkname
	"k8s.io/kubernetes/pkg/features"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	utilcodec "k8s.io/kubernetes/pkg/kubelet/kubeletconfig/util/codec"
	"k8s.io/kubernetes/pkg/kubelet/logs"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/utils/cpuset"
)

// The kubelet's description of a machine.
type (
	CPUSet      = cpuset.CPUSet
	MachineInfo = cadvisorapi.MachineInfo
	Node        = cadvisorapi.Node
	Core        = cadvisorapi.Core
)

func decode(data []byte) (*kubeletconfig.KubeletConfiguration, error) {
	return utilcodec.DecodeKubeletConfiguration(context.Background(), codecs, data)
}

// complete is what loadConfigFile adds, cmd/kubelet/app/server.go.
func complete(kc *kubeletconfig.KubeletConfiguration) {
	if kc.EvictionHard == nil {
		kc.EvictionHard = eviction.DefaultEvictionHard
	} else if kc.MergeDefaultEvictionSettings {
		for name, value := range eviction.DefaultEvictionHard {
			if _, given := kc.EvictionHard[name]; !given {
				kc.EvictionHard[name] = value
			}
		}
	}
}

// What the kubelet finds out about the machine's control groups, once for a process.
var (
	//go:linkname cgroupsOnce github.com/opencontainers/cgroups.isUnifiedOnce
	cgroupsOnce sync.Once
	//go:linkname unified github.com/opencontainers/cgroups.isUnified
	unified bool
)

func setCgroups(second bool) {
	cgroupsOnce.Do(func() {})
	unified = second
}

func moreDependencies(kc *kubeletconfig.KubeletConfiguration) error {
	_, err := cliflag.TLSCurvePreferences(kc.TLSCurvePreferences)
	return err
}

func hostname(override string) error {
	_, err := nodeutil.GetHostname(override)
	return err
}

// roundCPU is part of parseResourceList.
func roundCPU(q *resource.Quantity) { q.SetMilli((q.ScaledValue(resource.Micro) + 500) / 1000) }

var parseCPUs = cpuset.Parse

func onlineCPUs(info *MachineInfo) (set CPUSet, err error) {
	topo, err := topology.Discover(klog.Background(), info)
	if err != nil {
		return set, err
	}
	return topo.CPUDetails.CPUs(), nil
}

func managers(n *node, state string) error {
	kc, logger := n.kc, klog.Background()
	if !utilfeature.DefaultFeatureGate.Enabled(features.TopologyManagerPolicyOptions) && kc.TopologyManagerPolicyOptions != nil {
		return fmt.Errorf("topology manager policy options %v require feature gate %q", kc.TopologyManagerPolicyOptions, features.TopologyManagerPolicyOptions)
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.NodeSwap) && !unified && kc.MemorySwap.SwapBehavior == string(kubetypes.LimitedSwap) {
		return errors.New("swap feature is enabled and LimitedSwap but it is only supported with cgroupv2")
	}
	affinity, err := topologymanager.NewManager(logger, n.info.Topology, kc.TopologyManagerPolicy, kc.TopologyManagerScope, kc.TopologyManagerPolicyOptions)
	if err != nil {
		return err
	}
	set, err := reservedCPUs(n.info, kc.ReservedSystemCPUs)
	if err != nil {
		return err
	}
	if _, err := cpumanager.NewManager(logger, kc.CPUManagerPolicy, kc.CPUManagerPolicyOptions, kc.CPUManagerReconcilePeriod.Duration, n.info, set, n.reservation(), state, affinity); err != nil {
		return err
	}
	_, err = memorymanager.NewManager(logger, kc.MemoryManagerPolicy, n.info, n.reservation(), kc.ReservedMemory, state, affinity)
	return err
}

func nodeIPs(flags *options.KubeletFlags) error {
	if _, _, err := nodeutil.ParseNodeIPArgument(flags.NodeIP, flags.CloudProvider); err != nil {
		return fmt.Errorf("bad --node-ip %q: %w", flags.NodeIP, err)
	}
	return nil
}

func containerLogs(kc *kubeletconfig.KubeletConfiguration) error {
	_, err := logs.NewContainerLogManager(nil, nil, kc.ContainerLogMaxSize, int(kc.ContainerLogMaxFiles), int(kc.ContainerLogMaxWorkers), kc.ContainerLogMonitorInterval)
	return err
}

//go:linkname readCredentialProviderConfig k8s.io/kubernetes/pkg/credentialprovider/plugin.readCredentialProviderConfig
func readCredentialProviderConfig(path string) (*kubeletconfig.CredentialProviderConfig, string, error)

//go:linkname validateCredentialProviderConfig k8s.io/kubernetes/pkg/credentialprovider/plugin.validateCredentialProviderConfig
func validateCredentialProviderConfig(config *kubeletconfig.CredentialProviderConfig, tokens bool) field.ErrorList

// credentialProviders is RegisterCredentialProviderPlugins without the programs, which it would look for.
func credentialProviders(path string) error {
	config, _, err := readCredentialProviderConfig(path)
	if err != nil {
		return err
	}
	if err := validateCredentialProviderConfig(config, utilfeature.DefaultFeatureGate.Enabled(features.KubeletServiceAccountTokenForCredentialProviders)).ToAggregate(); err != nil {
		return err
	}
	return named(config)
}

func safeSysctls() []string { return sysctl.SafeSysctlAllowlist(context.Background()) }

// moreOfKubelet are NewMainKubelet's checks that this minor has.
func moreOfKubelet(flags *options.KubeletFlags, _ *kubeletconfig.KubeletConfiguration) error {
	if flags.CloudProvider != "" && !cloudprovider.IsExternal(flags.CloudProvider) {
		return cloudprovider.ErrorForDisabledProvider(flags.CloudProvider)
	}
	return nil
}
