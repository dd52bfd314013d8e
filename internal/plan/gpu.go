package plan

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gpu has the node use its graphics processors: the driver that the image has is loaded and looked at before the kubelet starts,
// and devices are partitioned. Nothing is installed: a driver is the image's work. The container runtime's part is in its
// configuration, and what shows devices to Kubernetes are services of the image.
var gpu = concern{
	name:  "GPU",
	joins: true,
	reads: []string{instanceTypePath, gpuPath},
	plan:  planGPU,
}

func planGPU(in *input, out *output) {
	planTranscoder(in, out)
	planPrebaked(in, out)
	if !in.usesNVIDIA() {
		declineGPU(in, out)
		return
	}
	planDriver(in, out)
	planPartitions(in, out)
	gpu := in.gpu()
	if in.managesGPU() && in.sharesGPU() {
		out.Fatal(nodeconfig.Invalid, DRAPath, "the device plug-in and the driver for dynamic resource allocation show the same devices; use one of managed and this")
	}
	if gpu.DevicePlugin && !in.plugsGPU() {
		out.Warn(nodeconfig.NotApplied, pluginPath, "is not applied: the image has no %s, or another service shows the devices; the cluster's own runs as a pod", facts.DevicePluginUnit)
	}
	if gpu.Strategy != "" && !(in.plugsGPU() && in.isPartitioned()) {
		out.Warn(nodeconfig.NotApplied, strategyPath, "is not applied: no device is partitioned, or the node's device plug-in is not run")
	}
	if marker := in.family.GPU.Marker; in.observesGPU() && marker != "" {
		out.file(resource.Join, marker, 0o644, nil, sourced("says that the services for GPUs are the node's", in.family.Sources.GPU))
	}
}

// declineGPU reports what is asked of NVIDIA's devices on a node that uses none. That a driver should be there says nothing alone:
// contracts say so on nodes of every kind.
func declineGPU(in *input, out *output) {
	gpu, reason := in.gpu(), "the node uses no GPU of NVIDIA's"
	switch asks := gpu.Managed || gpu.DynamicResourceAllocation || gpu.InstanceProfile != ""; {
	case gpu.Vendor == nvidia:
		reason = "the machine's tag " + facts.SkipGPUTag + " says that its GPU is left alone"
	case gpu.Vendor == amd && !in.transcodes():
		reason = "it is not known what a machine of this size needs; its image loads the driver, and a pod of the cluster's shows the devices"
	case !asks && (gpu.Vendor == "" || !in.isPartitioned() && gpu.Strategy == "" && !gpu.DevicePlugin):
		return
	}
	out.Warn(nodeconfig.NotApplied, gpuPath, "is not applied: %s", reason)
}

const (
	strategyPath = gpuPath + ".strategy"
	pluginPath   = gpuPath + ".devicePlugin"
)

const amd = "amd"
