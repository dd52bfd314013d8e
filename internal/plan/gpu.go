package plan

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gpu has the node use its graphics processors: the driver that the image has is loaded and looked at before the kubelet starts,
// devices are partitioned, and the services run that show them to Kubernetes. Nothing is installed: a driver is the image's work.
// The container runtime's part is in its configuration.
var gpu = concern{
	name:  "GPU",
	joins: true,
	reads: []string{instanceTypePath, "$.kubelet.nodeName", gpuPath},
	plan:  planGPU,
}

// The settings.
const (
	gpuPath          = "$.system.gpu"
	instanceTypePath = "$.cloud.instanceType"

	GPUVendorPath  = gpuPath + ".vendor"
	GPUDriverPath  = gpuPath + ".installDriver"
	GPUManagedPath = gpuPath + ".managed"
	DRAPath        = gpuPath + ".dynamicResourceAllocation"

	profilePath  = gpuPath + ".instanceProfile"
	layoutPath   = gpuPath + ".profileLayout"
	strategyPath = gpuPath + ".strategy"
	pluginPath   = gpuPath + ".devicePlugin"
)

// The vendors.
const (
	nvidia = "nvidia"
	amd    = "amd"
)

// nvidiaRuntime runs containers with NVIDIA's devices, in place of runc (NVIDIA Container Toolkit).
const nvidiaRuntime = "/usr/bin/nvidia-container-runtime"

// gpu is what the contract says of graphics processors; nothing where it says nothing.
func (in *input) gpu() nodeconfig.GPU { return *cmp.Or(in.config.System.GPU, &nodeconfig.GPU{}) }

// usesNVIDIA reports whether the node uses NVIDIA's devices.
func (in *input) usesNVIDIA() bool {
	return in.gpu().Vendor == nvidia && !(in.family.GPU.Tagged && skipsGPU(in.facts))
}

// skipsGPU reports whether the machine is one whose GPU is left alone (AKS: the configuration's no-GPU variant).
func skipsGPU(f facts.Facts) bool { return f.Instance != nil && f.Instance.SkipGPUDriver }

// managesGPU reports whether the device plug-in and the exporter of metrics are services of the node, and sharesGPU whether the
// driver for dynamic resource allocation is one, which takes the place of the plug-in.
func (in *input) managesGPU() bool {
	return in.usesNVIDIA() && (in.gpu().Managed || in.family.GPU.Tagged && in.instance().ManagedGPU)
}

func (in *input) sharesGPU() bool { return in.usesNVIDIA() && in.gpu().DynamicResourceAllocation }

// size is the machine's, in small letters: what its cloud says, or else the contract.
func (in *input) size() string {
	return strings.ToLower(cmp.Or(in.instance().Type, in.config.Cloud.InstanceType))
}

func planGPU(in *input, out *output) {
	planTranscoder(in, out)
	if !in.usesNVIDIA() {
		declineGPU(in, out)
	} else {
		planPartitions(in, out, planDriver(in, out))
	}
	planGPUServices(in, out)
	planPrebaked(in, out)
}

// declineGPU reports what is asked of NVIDIA's devices on a node that uses none. That a driver should be there says nothing:
// contracts say so on nodes of every kind.
func declineGPU(in *input, out *output) {
	gpu, reason := in.gpu(), "is not applied: the node uses no GPU of NVIDIA's"
	switch {
	case skipsGPU(in.facts):
		reason = "is not applied: the machine's tag " + facts.SkipGPUTag + " says that its GPU is left alone"
		if gpu.Vendor == nvidia {
			out.warn(nodeconfig.NotApplied, GPUVendorPath, "%s", reason)
		}
	case gpu.Vendor == amd && !in.transcodes():
		out.warn(nodeconfig.NotApplied, GPUVendorPath, "is not applied: it is not known what the size %s needs; the image loads the driver, and a pod of the cluster's shows the devices", cmp.Or(in.size(), "of the machine"))
	}
	asked := gpu.Vendor != ""
	for _, s := range []struct {
		path  string
		given bool
	}{
		{GPUDriverPath, asked && gpu.InstallDriver}, {pluginPath, asked && gpu.DevicePlugin}, {GPUManagedPath, gpu.Managed}, {DRAPath, gpu.DynamicResourceAllocation},
		{profilePath, gpu.InstanceProfile != ""}, {layoutPath, asked && len(gpu.ProfileLayout) > 0}, {strategyPath, asked && gpu.Strategy != ""},
	} {
		if s.given {
			out.warn(nodeconfig.NotApplied, s.path, "%s", reason)
		}
	}
}
