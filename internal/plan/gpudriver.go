package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// driverUnit has the driver's devices made at each boot. It has the name of the one that AKS's installation of a driver makes.
	driverUnit = "nvidia-modprobe.service"
	// driverPatience is how long the first look at the devices may take: eight of them are set up one after the other.
	driverPatience = resource.Duration(2 * time.Minute)
)

// planDriver has the image's driver for NVIDIA's devices loaded and looked at before the kubelet starts (AKS: validateGPUDrivers), and
// returns what shows that it works.
func planDriver(in *input, out *output) (driver []resource.ID) {
	checkDriver(in, out)
	warnOfSize(in, out)
	if in.family.GPU.Tagged && in.facts.Architecture == "arm64" {
		planDeviceManagers(in, out) // AKS leaves the driver of these machines to their image, and does not look at it
		return nil
	}
	driver = []resource.ID{planDriverUnit(in, out)}
	planDeviceManagers(in, out, driver...)
	return driver
}

// planDriverUnit plans the unit and what is looked at after it, of which it returns the last.
func planDriverUnit(in *input, out *output) resource.ID {
	file := resource.UnitDir + "/" + driverUnit
	out.file(resource.Join, file, 0o644, unitFile(
		"[Unit]",
		"Description=Make the devices of NVIDIA's driver",
		"DefaultDependencies=no",
		"After=local-fs.target systemd-modules-load.service systemd-udevd.service",
		"Conflicts=shutdown.target",
		"Before=shutdown.target",
		"Before="+kubeletUnit,
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
		"TimeoutStartSec="+strconv.Itoa(int(driverPatience.Std().Seconds())),
		"ExecStart=nvidia-modprobe -u -c0",
		"",
		"[Install]",
		"WantedBy=multi-user.target",
	), sourced("the driver's devices are there after every boot", in.family.Sources.GPU), driverUnit)
	out.enable(resource.Join, driverUnit)
	devices := &resource.Unit{Unit: driverUnit}
	out.addTo(kubeletGroup, resource.Resource{
		Phase: resource.Join, ExitCode: exitcode.GPUDriverFailed, Reason: "the driver finds its devices", Spec: devices,
	})
	// The driver writes of a damaged memory of a device, and may end well.
	rom := &resource.Command{
		Label: "gpu-info-rom", Argv: []string{"/bin/sh", "-c", "! nvidia-smi 2>&1 | grep -q 'infoROM is corrupted'"},
		Timeout: driverPatience, Inputs: []string{file}, Unconfined: true,
	}
	out.addTo(kubeletGroup, resource.Resource{
		Phase: resource.Join, Requires: []resource.ID{resource.IDOf(devices)}, ExitCode: exitcode.GPUInfoROMCorrupted,
		Reason: "no device has lost what it knows of itself", Spec: rom,
	})
	answers := &resource.Command{Label: "gpu-driver", Argv: []string{"nvidia-smi"}, Timeout: driverPatience, Inputs: []string{file}, Unconfined: true}
	out.addTo(kubeletGroup, resource.Resource{
		Phase: resource.Join, Requires: []resource.ID{resource.IDOf(rom)}, ExitCode: exitcode.GPUDriverFailed,
		Reason: "the driver answers, and fits its own programs", Spec: answers,
	})
	return resource.IDOf(answers)
}

// checkDriver reports a driver that is not there, or is for other devices. Slipway installs none.
func checkDriver(in *input, out *output) {
	at, wants := GPUVendorPath, "needs NVIDIA's driver"
	if in.gpu().InstallDriver {
		at, wants = GPUDriverPath, "wants NVIDIA's driver to be installed"
	}
	kind := DriverKind(in.size())
	programs := []string{"nvidia-modprobe", "nvidia-smi"}
	missing := slices.DeleteFunc(append(programs, "nvidia-container-runtime"), in.has)
	switch baked := in.facts.PrebakedDriver; {
	case len(missing) > 0:
		out.fatal(nodeconfig.NotInstalled, at, "%s, and the image has no %s in /usr/bin; Slipway installs no driver: use an image that has one of the kind %s",
			wants, strings.Join(missing, ", "), kind)
	case baked != "" && isGRID(baked) != isGRID(kind):
		out.fatal(nodeconfig.NotInstalled, at, "%s of the kind %s, and the image has one of the kind %s; use an image that has the wanted one", wants, kind, baked)
	}
}

// isGRID reports whether a driver is for parts of devices, which no other driver finds.
func isGRID(kind string) bool { return strings.HasPrefix(kind, gridDriver) }

// warnOfSize reports a size of Azure's of which nobody has said what its devices need.
func warnOfSize(in *input, out *output) {
	if size := in.size(); strings.HasPrefix(size, "standard_") && !knowsSize(size) {
		out.warn(nodeconfig.Invalid, instanceTypePath, "%s is no size whose GPUs are known; the driver is taken to be of the kind %s, and no fabric manager is started",
			size, cudaLTSDriver)
	}
}

// planDeviceManagers runs the vendor's own services for devices where the image has them. Devices that are connected by switches
// need one of them.
func planDeviceManagers(in *input, out *output, driver ...resource.ID) {
	manage := func(unit, reason string) {
		if at := in.unitAt(unit); at != "" {
			out.runUnit(kubeletGroup, at, exitcode.GPUDriverFailed, sourced(reason, in.family.Sources.GPU), driver...)
		}
	}
	if in.imageUnit(facts.PersistenceUnit) != "" {
		manage(facts.PersistenceUnit, "the driver stays ready while no container uses it")
	}
	if !HasFabric(in.size()) {
		return
	}
	if in.unitAt(facts.FabricManagerUnit) == "" {
		out.fatal(nodeconfig.NotInstalled, GPUVendorPath, "needs NVIDIA's fabric manager on the size %s, and the image has no %s; use an image that has it",
			in.size(), facts.FabricManagerUnit)
	}
	manage(facts.FabricManagerUnit, "the switches between the devices are set up")
}

// unitAt is where the machine has a unit of its image's, or would have it if nothing is known of its units, which are looked for
// on Azure alone; empty where it is known that there is none.
func (in *input) unitAt(name string) string {
	if at := in.imageUnit(name); at != "" || in.facts.Platform == facts.Azure && len(in.facts.Components) > 0 {
		return at
	}
	return vendorUnits + "/" + name
}
