package integrity

import "slices"

// Kind is a way to change what a node runs.
type Kind string

// The kinds. docs/agentless.md has a row for each.
const (
	KindDropIn      Kind = "drop-in"
	KindMask        Kind = "mask"
	KindUnit        Kind = "unit"
	KindAlias       Kind = "alias"
	KindDependency  Kind = "dependency"
	KindEnabled     Kind = "enabled"
	KindGenerator   Kind = "generator"
	KindManager     Kind = "manager"
	KindEnvironment Kind = "environment"
	KindPreload     Kind = "preload"
	KindSysctl      Kind = "sysctl"
	KindModule      Kind = "module"
	KindStaticPod   Kind = "static-pod"
	KindKubelet     Kind = "kubelet-config"
	KindKubeconfig  Kind = "kubeconfig"
	KindVolume      Kind = "volume-plugin"
	KindRegistry    Kind = "registry"
	KindRuntime     Kind = "runtime-config"
	KindNRI         Kind = "nri-plugin"
	KindRuntimeBin  Kind = "runtime-program"
	KindNetwork     Kind = "network-config"
	KindProgram     Kind = "program"
	KindAttribute   Kind = "attribute"
	KindParent      Kind = "parent"
	KindDirectory   Kind = "directory"
)

// acceptable are the kinds that a contract may accept at a path: settings that programs of a cluster write. Programs, and what can replace or
// mask a unit, are not.
var acceptable = []Kind{KindStaticPod, KindKubelet, KindRegistry, KindRuntime, KindNetwork, KindEnvironment, KindSysctl, KindModule}

// Acceptable reports whether a contract may accept findings of this kind.
func (f *Finding) Acceptable() bool { return slices.Contains(acceptable, f.Kind) }
