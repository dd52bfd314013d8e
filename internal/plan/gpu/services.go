package gpu

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// services runs services of the image that a contract asks for, by the names of the packages that bring them. What the image does
// not have is not installed.
var services = concern.Concern{
	Name:  "services of the image",
	Joins: true,
	Reads: []string{setting.InstanceType, "$.kubelet.nodeName", setting.LazyPull, setting.GPU},
	Plan:  planServices,
}

// service is one of them.
type service struct {
	unit string
	// wanted reports whether the node runs the service. asked is the setting that requests it.
	wanted func(in *concern.Input) bool
	asked  string
	// command replaces the package's command, and section holds more lines of the drop-in. Both may be empty.
	command func(in *concern.Input) unitfile.Text
	section []unitfile.Line
	// settings are more lines of its section [Service].
	settings []unitfile.Line
	// code is the provisioning's exit code if the service does not start; 0 if the provisioning does not wait for it.
	code int
	// early means that the kubelet waits for the service. The others register with the kubelet, or observe its pods.
	early bool
	// stops means that the service is stopped if no setting requests it, because the family's images may start it.
	stops bool
}

// imageServices are all services (AKS: ensureGPUDrivers, startNvidiaManagedExpServices, ensureArtifactStreaming; Amazon EKS AMI:
// FastImagePull). The exporter does not use the port of an exporter that a user of the cluster installs. A service that only
// observes devices may fail without harm.
var imageServices = []service{
	{unit: facts.PersistenceUnit, wanted: persistsGPU, asked: setting.GPUVendor, code: exitcode.GPUDriverFailed, early: true},
	{unit: facts.FabricManagerUnit, wanted: switchesGPU, asked: setting.GPUVendor, code: exitcode.GPUDriverFailed, early: true},
	{unit: facts.DevicePluginUnit, wanted: plugsGPU, asked: setting.GPUManaged, command: pluginCommand, code: exitcode.GPUDevicePluginFailed, stops: true},
	{
		unit: facts.DRADriverUnit, wanted: (*concern.Input).SharesGPU, asked: setting.DynamicResourceAllocation, command: draCommand, code: exitcode.DRADriverFailed, stops: true,
		section: []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Requires", concern.KubeletUnit), unitfile.Set("After", concern.KubeletUnit)},
	},
	{unit: facts.DCGMUnit, wanted: (*concern.Input).ObservesGPU, asked: setting.GPUManaged, stops: true},
	{
		unit: facts.DCGMExporterUnit, wanted: (*concern.Input).ObservesGPU, asked: setting.GPUManaged, stops: true,
		command: func(*concern.Input) unitfile.Text {
			return "/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv --address :19400"
		},
		// The unit of the package logs to a file (AKS: startNvidiaManagedExpServices).
		settings: []unitfile.Line{unitfile.Set("StandardOutput", "journal"), unitfile.Set("StandardError", "journal")},
	},
	{unit: facts.ACRMirrorUnit, wanted: (*concern.Input).Mirrors, asked: setting.LazyPull, code: exitcode.StreamingFailed, early: true},
	{unit: facts.OverlaybdTCMUUnit, wanted: (*concern.Input).Streams, asked: setting.LazyPull, code: exitcode.StreamingFailed, early: true},
	{unit: facts.OverlaybdSnapshotterUnit, wanted: (*concern.Input).Streams, asked: setting.LazyPull, code: exitcode.StreamingFailed, early: true},
	{unit: facts.SOCIUnit, wanted: (*concern.Input).UsesSOCI, asked: setting.LazyPull, code: exitcode.StreamingFailed, early: true},
}

// persistsGPU reports whether the node runs the service that keeps the driver ready while no container uses it. An image may lack it.
func persistsGPU(in *concern.Input) bool {
	return in.UsesNVIDIA() && in.ImageUnit(facts.PersistenceUnit) != ""
}

// switchesGPU reports whether the node needs the service that sets up the switches between its devices.
func switchesGPU(in *concern.Input) bool { return in.UsesNVIDIA() && gpusize.HasFabric(in.Size()) }

// pluginCommand shows partitions as devices of one kind, but where a contract wants one kind for each profile.
func pluginCommand(in *concern.Input) unitfile.Text {
	var strategy unitfile.Text
	if isPartitioned(in) {
		strategy = " --mig-strategy single"
		if in.GPU().Strategy == "Mixed" {
			strategy = " --mig-strategy mixed"
		}
	}
	return "/usr/bin/nvidia-device-plugin" + strategy + " --pass-device-specs"
}

func draCommand(in *concern.Input) unitfile.Text {
	return "/usr/bin/gpu-kubelet-plugin --kubeconfig " + unitfile.Quote(in.Family.Paths.Kubeconfig) + ` --container-driver-root / --image-name "" --node-name=` +
		cmp.Or(unitfile.Quote(in.Config.Kubelet.NodeName), "%H")
}

func planServices(in *concern.Input, out *concern.Output) {
	for i := range imageServices {
		s := &imageServices[i]
		at := in.UnitAt(s.unit)
		switch wanted := s.wanted(in); {
		case wanted && at == "":
			asked := s.asked
			if asked == setting.GPUManaged && in.SharesGPU() {
				asked = setting.DynamicResourceAllocation
			}
			out.Fatal(nodeconfig.NotInstalled, asked, "needs %s, and the image does not have it; use an image that has it", s.unit)
		case wanted:
			planService(in, out, s, at)
		case s.stops && in.Family.GPU.Tagged && in.ImageUnit(s.unit) != "":
			out.Join("", &resource.UnitState{Unit: s.unit, State: resource.UnitDisabled}, exitcode.UnitStartFailed, "the contract does not ask for it")
		}
	}
}

func planService(in *concern.Input, out *concern.Output, s *service, at string) {
	if s.command != nil {
		lines := slices.Concat(s.section, []unitfile.Line{unitfile.Section("Service")}, s.settings, []unitfile.Line{unitfile.Set("ExecStart", ""), unitfile.Set("ExecStart", s.command(in))})
		out.File(resource.Join, resource.UnitDir+"/"+s.unit+".d/10-node.conf", 0o644, unitfile.File(lines...), "how the service runs on this node", s.unit)
	}
	g, after := concern.Group(""), resource.IDOf(&resource.Check{Label: concern.KubeletActive})
	if s.early {
		g, after = concern.KubeletGroup, resource.IDOf(&resource.Command{Label: driverAnswers})
	}
	out.RunUnit(g, at, s.code, "the contract asks for it").After = []resource.ID{after}
}
