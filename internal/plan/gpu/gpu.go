package gpu

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gpu has the node use its graphics processors: the driver that the image has is loaded and looked at before the kubelet starts,
// and devices are partitioned. Nothing is installed: a driver is the image's work. The container runtime's part is in its
// configuration, and what shows devices to Kubernetes are services of the image.
var gpu = concern.Concern{
	Name:  "GPU",
	Joins: true,
	Reads: []string{setting.InstanceType, setting.GPU},
	Plan:  planGPU,
}

func planGPU(in *concern.Input, out *concern.Output) {
	planTranscoder(in, out)
	planPrebaked(in, out)
	if !in.UsesNVIDIA() {
		declineGPU(in, out)
		return
	}
	planDriver(in, out)
	planPartitions(in, out)
	gpu := in.GPU()
	if in.ManagesGPU() && in.SharesGPU() {
		out.Fatal(nodeconfig.Invalid, setting.DynamicResourceAllocation, "the device plug-in and the driver for dynamic resource allocation show the same devices; use one of managed and this")
	}
	if gpu.DevicePlugin && !plugsGPU(in) {
		out.Warn(nodeconfig.NotApplied, pluginPath, "is not applied: the image has no %s, or another service shows the devices; the cluster's own runs as a pod", facts.DevicePluginUnit)
	}
	if gpu.Strategy != "" && !(plugsGPU(in) && isPartitioned(in)) {
		out.Warn(nodeconfig.NotApplied, strategyPath, "is not applied: no device is partitioned, or the node's device plug-in is not run")
	}
	if marker := in.Family.GPU.Marker; in.ObservesGPU() && marker != "" {
		out.File(resource.Join, marker, 0o644, nil, concern.Sourced("says that the services for GPUs are the node's", in.Family.Sources.GPU))
	}
}

// declineGPU reports settings for NVIDIA's devices on a node that uses none. It does not report the request for a driver alone:
// contracts have that on nodes of every kind.
func declineGPU(in *concern.Input, out *concern.Output) {
	gpu, reason := in.GPU(), "the node uses no GPU of NVIDIA's"
	switch asks := gpu.Managed || gpu.DynamicResourceAllocation || gpu.InstanceProfile != ""; {
	case gpu.Vendor == concern.NVIDIA:
		reason = "the machine's tag " + facts.SkipGPUTag + " says that its GPU is left alone"
	case gpu.Vendor == amd && !in.Transcodes():
		reason = "it is not known what a machine of this size needs; its image loads the driver, and a pod of the cluster's shows the devices"
	case !asks && (gpu.Vendor == "" || !isPartitioned(in) && gpu.Strategy == "" && !gpu.DevicePlugin):
		return
	}
	out.Warn(nodeconfig.NotApplied, setting.GPU, "is not applied: %s", reason)
}

const (
	strategyPath = setting.GPU + ".strategy"
	pluginPath   = setting.GPU + ".devicePlugin"
)

const amd = "amd"
