package gpu

import (
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// driverUnit creates the driver's devices at each boot. AKS's driver installation uses the same name.
	driverUnit = "nvidia-modprobe.service"
	// driverPatience is how long a look at the devices may take: eight of them are set up one after the other.
	driverPatience = resource.Duration(2 * time.Minute)
)

// driverText is that unit.
const driverText = `[Unit]
Description=Make the devices of NVIDIA's driver
DefaultDependencies=no
After=local-fs.target systemd-modules-load.service systemd-udevd.service
Conflicts=shutdown.target
Before=shutdown.target
Before=` + concern.KubeletUnit + `

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=120
ExecStart=nvidia-modprobe -u -c0

[Install]
WantedBy=multi-user.target
`

// driverLooks are the checks of the driver after it is loaded. A check may succeed although its output reports a damaged device.
var driverLooks = []struct {
	label, text, reason string
	code                int
}{
	{"gpu-info-rom", "! nvidia-smi 2>&1 | grep -q 'infoROM is corrupted'", "no device has lost what it knows of itself", exitcode.GPUInfoROMCorrupted},
	{driverAnswers, "exec nvidia-smi", "the driver answers, and fits its own programs", exitcode.GPUDriverFailed},
}

// planDriver has the image's driver for NVIDIA's devices loaded and looked at before the kubelet starts (AKS: validateGPUDrivers).
func planDriver(in *concern.Input, out *concern.Output) {
	checkDriver(in, out)
	if in.Family.GPU.Tagged && in.Facts.Architecture == "arm64" {
		return // AKS leaves the driver of these machines to their image, and does not look at it
	}
	file := resource.UnitDir + "/" + driverUnit
	out.File(resource.Join, file, 0o644, []byte(driverText), concern.Sourced("the driver's devices are there after every boot", in.Family.Sources.GPU), driverUnit)
	last := out.RunUnit(concern.KubeletGroup, file, exitcode.GPUDriverFailed, "the driver finds its devices").ID()
	for _, look := range driverLooks {
		r := out.Join(concern.KubeletGroup, &resource.Command{
			Label: look.label, Argv: []string{facts.Bash, "-c", look.text}, Inputs: []string{file}, Timeout: driverPatience, Unconfined: true,
		}, look.code, look.reason)
		r.Requires, last = []resource.ID{last}, r.ID()
	}
}

// shell returns a command that runs a text once in a shell, which sees the machine's whole file system.
func shell(label, text string, timeout resource.Duration) *resource.Command {
	return &resource.Command{Label: label, Argv: []string{facts.Bash, "-c", text}, Once: label, Timeout: timeout, Unconfined: true}
}

// driverPrograms are what the driver's packages bring.
var driverPrograms = []string{"nvidia-smi", "nvidia-modprobe", "nvidia-container-runtime"}

// checkDriver reports a driver that is missing or for other devices, and a size of Azure's whose needs AKS does not document.
// Slipway installs no driver.
func checkDriver(in *concern.Input, out *concern.Output) {
	at := setting.GPUVendor
	if in.GPU().InstallDriver {
		at = setting.GPUInstallDriver
	}
	size := in.Size()
	if strings.HasPrefix(size, "standard_") && !gpusize.KnowsSize(size) {
		out.Warn(nodeconfig.Invalid, setting.InstanceType, "%s is no size whose GPUs are known; the driver is taken to be of the kind %s, and no fabric manager is started", size, gpusize.CUDALTSDriver)
	}
	kind := gpusize.DriverKind(size)
	missing := slices.IndexFunc(driverPrograms, func(program string) bool { return !in.Has(program) })
	switch baked := in.Facts.PrebakedDriver; {
	case missing >= 0:
		out.Fatal(nodeconfig.NotInstalled, at, "needs %s, which the image does not have in /usr/bin; Slipway installs no driver: use an image with NVIDIA's driver of the kind %s",
			driverPrograms[missing], kind)
	case baked != "" && isGRID(baked) != isGRID(kind):
		out.Fatal(nodeconfig.NotInstalled, at, "needs NVIDIA's driver of the kind %s, and the image has one of the kind %s; use an image that has the wanted one", kind, baked)
	}
}

// isGRID reports whether a driver is for parts of devices, which no other driver finds.
func isGRID(kind string) bool { return strings.HasPrefix(kind, gpusize.GridDriver) }

// driverAnswers is the label of the last look at the driver.
const driverAnswers = "gpu-driver"

// plugsGPU reports whether the device plug-in is a service of the node: with the other services, or alone if the image has it.
func plugsGPU(in *concern.Input) bool {
	return in.ManagesGPU() || in.UsesNVIDIA() && in.GPU().DevicePlugin && !in.SharesGPU() && in.UnitAt(facts.DevicePluginUnit) != ""
}
