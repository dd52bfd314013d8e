package plan

import (
	"cmp"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// services runs services of the image that a contract asks for, by the names of the packages that bring them. What the image does
// not have is not installed.
var services = concern{
	name:  "services of the image",
	joins: true,
	reads: []string{instanceTypePath, "$.kubelet.nodeName", LazyPullPath, gpuPath},
	plan:  planServices,
}

// service is one of them.
type service struct {
	unit string
	// wanted says whether the node runs it, asked the setting that asks for it.
	wanted func(in *input) bool
	asked  string
	// command is what it runs in place of the package's own, and section what its drop-in has besides; empty for neither.
	command func(in *input) unitfile.Text
	section []unitfile.Line
	// settings are lines of its section [Service] besides the command.
	settings []unitfile.Line
	// code is that of a provisioning that cannot start it; 0 for one that nobody waits for.
	code int
	// early says that the kubelet waits for it. The others register with the kubelet, or observe its pods.
	early bool
	// stops says that it is stopped where nobody asks for it, if the family's images may start it.
	stops bool
}

// imageServices are all there are (AKS: ensureGPUDrivers, startNvidiaManagedExpServices, ensureArtifactStreaming; Amazon EKS AMI:
// FastImagePull). The exporter has another port than one that a user of the cluster installs. What only observes devices is in
// nobody's way when it does not run.
var imageServices = []service{
	{unit: facts.PersistenceUnit, wanted: (*input).persistsGPU, asked: GPUVendorPath, code: exitcode.GPUDriverFailed, early: true},
	{unit: facts.FabricManagerUnit, wanted: (*input).switchesGPU, asked: GPUVendorPath, code: exitcode.GPUDriverFailed, early: true},
	{unit: facts.DevicePluginUnit, wanted: (*input).plugsGPU, asked: GPUManagedPath, command: pluginCommand, code: exitcode.GPUDevicePluginFailed, stops: true},
	{
		unit: facts.DRADriverUnit, wanted: (*input).sharesGPU, asked: DRAPath, command: draCommand, code: exitcode.DRADriverFailed, stops: true,
		section: []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Requires", kubeletUnit), unitfile.Set("After", kubeletUnit)},
	},
	{unit: facts.DCGMUnit, wanted: (*input).observesGPU, asked: GPUManagedPath, stops: true},
	{
		unit: facts.DCGMExporterUnit, wanted: (*input).observesGPU, asked: GPUManagedPath, stops: true,
		command: func(*input) unitfile.Text {
			return "/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv --address :19400"
		},
		// The unit of the package logs to a file (AKS: startNvidiaManagedExpServices).
		settings: []unitfile.Line{unitfile.Set("StandardOutput", "journal"), unitfile.Set("StandardError", "journal")},
	},
	{unit: facts.ACRMirrorUnit, wanted: (*input).mirrors, asked: LazyPullPath, code: exitcode.StreamingFailed, early: true},
	{unit: facts.OverlaybdTCMUUnit, wanted: (*input).streams, asked: LazyPullPath, code: exitcode.StreamingFailed, early: true},
	{unit: facts.OverlaybdSnapshotterUnit, wanted: (*input).streams, asked: LazyPullPath, code: exitcode.StreamingFailed, early: true},
	{unit: facts.SOCIUnit, wanted: (*input).usesSOCI, asked: LazyPullPath, code: exitcode.StreamingFailed, early: true},
}

// The image may lack the service that keeps the driver ready while no container uses it; devices that are connected by switches
// need the one that sets these up.
func (in *input) persistsGPU() bool {
	return in.usesNVIDIA() && in.imageUnit(facts.PersistenceUnit) != ""
}
func (in *input) switchesGPU() bool { return in.usesNVIDIA() && HasFabric(in.size()) }

// pluginCommand shows partitions as devices of one kind, but where a contract wants one kind for each profile.
func pluginCommand(in *input) unitfile.Text {
	var strategy unitfile.Text
	if in.isPartitioned() {
		strategy = " --mig-strategy single"
		if in.gpu().Strategy == "Mixed" {
			strategy = " --mig-strategy mixed"
		}
	}
	return "/usr/bin/nvidia-device-plugin" + strategy + " --pass-device-specs"
}

func draCommand(in *input) unitfile.Text {
	return "/usr/bin/gpu-kubelet-plugin --kubeconfig " + unitfile.Quote(in.family.Paths.Kubeconfig) + ` --container-driver-root / --image-name "" --node-name=` +
		cmp.Or(unitfile.Quote(in.config.Kubelet.NodeName), "%H")
}

func planServices(in *input, out *output) {
	for i := range imageServices {
		s := &imageServices[i]
		at := in.unitAt(s.unit)
		switch wanted := s.wanted(in); {
		case wanted && at == "":
			asked := s.asked
			if asked == GPUManagedPath && in.sharesGPU() {
				asked = DRAPath
			}
			out.Fatal(nodeconfig.NotInstalled, asked, "needs %s, and the image does not have it; use an image that has it", s.unit)
		case wanted:
			planService(in, out, s, at)
		case s.stops && in.family.GPU.Tagged && in.imageUnit(s.unit) != "":
			out.join("", &resource.UnitState{Unit: s.unit, State: resource.UnitDisabled}, exitcode.UnitStartFailed, "nobody asks for it")
		}
	}
}

func planService(in *input, out *output, s *service, at string) {
	if s.command != nil {
		lines := slices.Concat(s.section, []unitfile.Line{unitfile.Section("Service")}, s.settings, []unitfile.Line{unitfile.Set("ExecStart", ""), unitfile.Set("ExecStart", s.command(in))})
		out.file(resource.Join, resource.UnitDir+"/"+s.unit+".d/10-node.conf", 0o644, unitfile.File(lines...), "how the service runs on this node", s.unit)
	}
	g, after := group(""), resource.IDOf(&resource.Check{Label: kubeletActive})
	if s.early {
		g, after = kubeletGroup, resource.IDOf(&resource.Command{Label: driverAnswers})
	}
	out.runUnit(g, at, s.code, "the contract asks for it").After = []resource.ID{after}
}
