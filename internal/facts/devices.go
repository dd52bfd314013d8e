package facts

import (
	"path"
	"slices"
	"strings"
)

// The units of GPU images, by the names in NVIDIA's packages and in AKS's.
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
	SOCIUnit                 = "soci-snapshotter.service" // of Amazon's images; soci-snapshotter's package has it
)

// deviceUnits are all of these.
var deviceUnits = []string{
	FabricManagerUnit, PersistenceUnit, DevicePluginUnit, DCGMUnit, DCGMExporterUnit, DRADriverUnit,
	ACRMirrorUnit, OverlaybdTCMUUnit, OverlaybdSnapshotterUnit, SOCIUnit,
}

// PrebakedMarker is where an AKS image records the NVIDIA driver that it was built with. If the driver was removed later,
// the record is in the file whose name has the suffix PrebakedGone.
const (
	PrebakedMarker = "/opt/azure/aks-gpu/dkms-marker"
	PrebakedGone   = ".removed"
)

// pciDevices has a directory for each PCI device, with its vendor's number in a file (Linux: Documentation/ABI/testing/
// sysfs-bus-pci). nvidiaVendor is NVIDIA's number (pci.ids).
const (
	pciDevices   = "/sys/bus/pci/devices"
	nvidiaVendor = "0x10de"
)

// hasVendor reports whether the machine has a PCI device of a vendor.
func (g gatherer) hasVendor(vendor string) bool {
	names, _ := g.ReadDir(pciDevices)
	return slices.ContainsFunc(names, func(name string) bool { return g.attribute(pciDevices+"/"+name+"/vendor", len(vendor)+1) == vendor })
}

// maxMarker limits the marker, which has a handful of lines.
const maxMarker = 4 << 10

// prebakedDriver returns the kind of the driver that the image was built with, such as "cuda", or "". It stays the same
// when the driver is removed, so that the node's plan stays the same.
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
			kind = "cuda" // AKS: the first images with a driver had no other kind, and did not record it
		}
		return printable(strings.TrimSpace(kind))
	}
	return ""
}
