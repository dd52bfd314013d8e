package concern

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The vendors.
const (
	NVIDIA = "nvidia"
)

// GPU returns the contract's settings for graphics processors; the zero value if it has no such settings.
func (in *Input) GPU() *nodeconfig.GPU { return cmp.Or(in.Config.System.GPU, &nodeconfig.GPU{}) }

// UsesNVIDIA reports whether the node uses NVIDIA's devices.
func (in *Input) UsesNVIDIA() bool {
	return in.GPU().Vendor == NVIDIA && !(in.Family.GPU.Tagged && SkipsGPU(in.Facts))
}

// RunsNVIDIA reports whether containers run with NVIDIA's runtime: on a node that uses NVIDIA's devices, and in some families on
// each whose image has that runtime.
func (in *Input) RunsNVIDIA() bool {
	return in.UsesNVIDIA() || in.Family.Runtime.NVIDIAInstalled && len(in.Facts.Components) > 0 && ProgramOf(in.Facts, nvidiaRuntime) != ""
}

// nvidiaRuntime is NVIDIA's wrapper of runc (NVIDIA Container Toolkit).
const nvidiaRuntime = "nvidia-container-runtime"

// PresentLabels are the labels of a node that has an NVIDIA device; nil for other nodes.
func (in *Input) PresentLabels() map[string]string {
	if gpu := &in.Family.GPU; in.Facts.NVIDIADevice && in.Minor >= gpu.PresentSince {
		return gpu.Present
	}
	return nil
}

// SkipsGPU reports whether the machine is one whose GPU is left alone (AKS: the configuration's no-GPU variant).
func SkipsGPU(f facts.Facts) bool { return f.Instance != nil && f.Instance.SkipGPUDriver }

// ManagesGPU reports whether the device plug-in and the exporter of metrics are services of the node, and SharesGPU whether the
// driver for dynamic resource allocation is one, which takes the place of the plug-in.
func (in *Input) ManagesGPU() bool {
	return in.UsesNVIDIA() && (in.GPU().Managed || in.Family.GPU.Tagged && in.Instance().ManagedGPU)
}

func (in *Input) SharesGPU() bool { return in.UsesNVIDIA() && in.GPU().DynamicResourceAllocation }

// Size is the machine's size in lower case: the cloud's answer, or else the contract's.
func (in *Input) Size() string {
	return strings.ToLower(cmp.Or(in.Instance().Type, in.Config.Cloud.InstanceType))
}

func (in *Input) ObservesGPU() bool { return in.ManagesGPU() || in.SharesGPU() }

// Transcodes reports whether the machine has AMD's video accelerator. Its size decides that; the contract does not have to ask for it.
func (in *Input) Transcodes() bool { return gpusize.HasTranscoder(in.Size()) }
