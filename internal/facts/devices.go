package facts

import (
	"path"
	"slices"
	"strings"
)

// The units of images for graphics processors, by the names that NVIDIA's packages give them, and AKS's.
const (
	FabricManagerUnit = "nvidia-fabricmanager.service"
	PersistenceUnit   = "nvidia-persistenced.service"
	DevicePluginUnit  = "nvidia-device-plugin.service"
	DCGMUnit          = "nvidia-dcgm.service"
	DCGMExporterUnit  = "nvidia-dcgm-exporter.service"
	DRADriverUnit     = "dra-driver-nvidia-gpu.service"
)

// The units of images that start containers before their image has arrived (AKS: ensureArtifactStreaming; Amazon EKS AMI:
// FastImagePull).
const (
	ACRMirrorUnit            = "acr-mirror.service"
	OverlaybdTCMUUnit        = "overlaybd-tcmu.service"
	OverlaybdSnapshotterUnit = "overlaybd-snapshotter.service"
	SOCIUnit                 = "soci-snapshotter.service" // of Amazon's images; soci-snapshotter has it in its package
)

// deviceUnits are all of these.
var deviceUnits = []string{
	FabricManagerUnit, PersistenceUnit, DevicePluginUnit, DCGMUnit, DCGMExporterUnit, DRADriverUnit,
	ACRMirrorUnit, OverlaybdTCMUUnit, OverlaybdSnapshotterUnit, SOCIUnit,
}

// PrebakedMarker is where an AKS image says which driver for NVIDIA's devices it was built with; beside it, with PrebakedGone
// behind the name, it says so after the driver was removed.
const (
	PrebakedMarker = "/opt/azure/aks-gpu/dkms-marker"
	PrebakedGone   = ".removed"
)

// pciDevices has a directory for each PCI device, with the number of its vendor in a file (Linux: Documentation/ABI/testing/
// sysfs-bus-pci). nvidiaVendor is NVIDIA's (pci.ids).
const (
	pciDevices   = "/sys/bus/pci/devices"
	nvidiaVendor = "0x10de"
)

// hasVendor reports whether the machine has a PCI device of a vendor.
func (g gatherer) hasVendor(vendor string) bool {
	names, _ := g.ReadDir(pciDevices)
	return slices.ContainsFunc(names, func(name string) bool { return g.attribute(pciDevices+"/"+name+"/vendor", len(vendor)+1) == vendor })
}

// maxMarker bounds the marker, which has a handful of lines.
const maxMarker = 4 << 10

// prebakedDriver is the kind of the driver that the image was built with: "cuda"; empty for none. It stays the same when the
// driver is removed, so that the node's plan does.
func (g gatherer) prebakedDriver() string {
	names, _ := g.ReadDir(path.Dir(PrebakedMarker))
	for _, name := range names {
		if name != path.Base(PrebakedMarker) && name != path.Base(PrebakedMarker)+PrebakedGone {
			continue
		}
		content, err := g.ReadFile(path.Dir(PrebakedMarker)+"/"+name, maxMarker)
		if err != nil {
			continue
		}
		_, rest, said := strings.Cut("\n"+string(content), "\ndriver_kind=")
		kind, _, _ := strings.Cut(rest, "\n")
		if !said {
			kind = "cuda" // AKS: the first images with a driver had no other, and said none
		}
		return printable(strings.TrimSpace(kind))
	}
	return ""
}
