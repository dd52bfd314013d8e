package plan

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gpuService is a service of the node for NVIDIA's devices, by the names of NVIDIA's packages.
type gpuService struct {
	unit string
	// wanted says who asks for it.
	wanted func(in *input) bool
	// command is what it runs in place of the package's own; nil for that.
	command func(in *input) string
	// lines are what its drop-in has besides.
	lines []string
	// code is that of a provisioning that cannot start it. Nobody waits for one that only observes.
	code     int
	observes bool
}

// gpuServices are all there are (AKS: startNvidiaManagedExpServices). They start after the kubelet, which they register with, or
// whose pods they observe.
var gpuServices = []gpuService{
	{unit: facts.DevicePluginUnit, wanted: (*input).plugsGPU, command: pluginCommand, code: exitcode.GPUDevicePluginFailed},
	{
		unit: facts.DRADriverUnit, wanted: (*input).sharesGPU, command: draCommand, code: exitcode.DRADriverFailed,
		lines: []string{"[Unit]", "Requires=" + kubeletUnit, "After=" + kubeletUnit, ""},
	},
	{unit: facts.DCGMUnit, wanted: (*input).observesGPU, code: exitcode.DCGMFailed, observes: true},
	{unit: facts.DCGMExporterUnit, wanted: (*input).observesGPU, command: exporterCommand, code: exitcode.DCGMExporterFailed, observes: true},
}

// plugsGPU reports whether the device plug-in is a service of the node: with the others, or alone where the image has it.
func (in *input) plugsGPU() bool {
	return in.managesGPU() || in.usesNVIDIA() && in.gpu().DevicePlugin && !in.sharesGPU() && in.unitAt(facts.DevicePluginUnit) != ""
}

func (in *input) observesGPU() bool { return in.managesGPU() || in.sharesGPU() }

// pluginCommand shows partitions as devices of one kind, but where a contract wants one kind for each profile.
func pluginCommand(in *input) string {
	strategy := ""
	if in.isPartitioned() {
		strategy = " --mig-strategy single"
		if in.gpu().Strategy == "Mixed" {
			strategy = " --mig-strategy mixed"
		}
	}
	return "/usr/bin/nvidia-device-plugin" + strategy + " --pass-device-specs"
}

func draCommand(in *input) string {
	return fmt.Sprintf(`/usr/bin/gpu-kubelet-plugin --kubeconfig %s --container-driver-root / --image-name "" --node-name=%s`,
		in.family.Paths.Kubeconfig, cmp.Or(unitValue(in.config.Kubelet.NodeName), "%H"))
}

// exporterCommand has another port than an exporter that a user of the cluster installs.
func exporterCommand(*input) string {
	return "/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv --address :19400"
}

// planGPUServices runs the services that are asked for, and stops the others where the family's images may start them.
func planGPUServices(in *input, out *output) {
	checkGPUServices(in, out)
	for _, s := range gpuServices {
		at := in.unitAt(s.unit)
		switch {
		case s.wanted(in) && at != "":
			planGPUService(in, out, s, at)
		case !s.wanted(in) && in.family.GPU.Tagged && in.imageUnit(s.unit) != "":
			out.add(resource.Resource{
				Phase: resource.Join, ExitCode: exitcode.UnitStartFailed, Reason: sourced("nobody asks for it", in.family.Sources.GPU),
				Spec: &resource.UnitState{Unit: s.unit, State: resource.UnitDisabled},
			})
		}
	}
	if marker := in.family.GPU.Marker; in.observesGPU() && marker != "" {
		out.file(resource.Join, marker, 0o644, nil, sourced("says that the services for GPUs are the node's", in.family.Sources.GPU))
	}
}

// checkGPUServices reports services that the image has not, two that show the same devices, and settings of none.
func checkGPUServices(in *input, out *output) {
	managed, shared := in.managesGPU(), in.sharesGPU()
	if managed && shared {
		out.fatal(nodeconfig.Invalid, DRAPath, "the device plug-in and the driver for dynamic resource allocation show the same devices; use one of %s and this",
			strings.TrimPrefix(GPUManagedPath, "$."))
	}
	at := GPUManagedPath
	if shared {
		at = DRAPath
	}
	var missing []string
	for _, s := range gpuServices {
		if s.wanted(in) && in.unitAt(s.unit) == "" {
			missing = append(missing, s.unit)
		}
	}
	if len(missing) > 0 {
		out.fatal(nodeconfig.NotInstalled, at, "needs %s, and the image has none of them; Slipway installs no package: use an image that has them", strings.Join(missing, ", "))
	}
	gpu := in.gpu()
	if in.usesNVIDIA() && gpu.DevicePlugin && !in.plugsGPU() {
		out.warn(nodeconfig.NotApplied, pluginPath, "is not applied: the image has no %s, or another service shows the devices; the cluster's own runs as a pod", facts.DevicePluginUnit)
	}
	if in.usesNVIDIA() && gpu.Strategy != "" && !(in.plugsGPU() && in.isPartitioned()) {
		out.warn(nodeconfig.NotApplied, strategyPath, "is not applied: no device is partitioned, or the node's device plug-in is not run")
	}
}

func planGPUService(in *input, out *output, s gpuService, at string) {
	if s.command != nil {
		lines := append(append([]string{}, s.lines...), "[Service]", "ExecStart=", "ExecStart="+s.command(in))
		out.file(resource.Join, resource.UnitDir+"/"+s.unit+".d/10-node.conf", 0o644, unitFile(lines...),
			sourced("how the service runs on this node", in.family.Sources.GPU), s.unit)
	}
	active := resource.IDOf(&resource.Check{Label: kubeletActive})
	if !s.observes {
		out.runUnit("", at, s.code, sourced("pods are given devices", in.family.Sources.GPU), active)
		return
	}
	link := &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + s.unit, Target: at}
	out.add(resource.Resource{Phase: resource.Join, Reason: "starts at boot", Spec: link})
	start := &resource.Command{
		Label: "start-" + strings.TrimSuffix(s.unit, path.Ext(s.unit)), Argv: []string{"systemctl", "start", "--no-block", s.unit},
		Timeout: startTimeout, Inputs: []string{link.Path}, Optional: true,
	}
	out.add(resource.Resource{
		Phase: resource.Join, After: []resource.ID{active}, Reason: sourced("observes the devices", in.family.Sources.GPU), Spec: start,
	})
	out.add(resource.Resource{
		Phase: resource.Join, Requires: []resource.ID{resource.IDOf(start)}, ExitCode: s.code, Reason: "a node is one without it",
		Spec: &resource.Check{Label: s.unit, UnitActive: s.unit, Foreign: true, Advisory: true, Timeout: startTimeout},
	})
}
