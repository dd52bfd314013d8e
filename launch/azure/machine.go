package azure

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// driverRow is a version of a driver for graphics processors.
type driverRow struct{ kind, version, suffix string }

// driverRows are the versions that AKS's images of August 2026 go with: a driver of another version than the image's programs
// does not work (Karpenter for Azure: pkg/utils/gpu.go). Package gpusize has the kinds by size.
var driverRows = []driverRow{
	{"grid-v20", "595.58.03", "20260609172331"},
	{"grid", "570.211.01", "20260522192315"},
	{"cuda", "470.82.01", "20260629214430"},
	{"cuda-lts", "580.159.04", "20260629214430"},
}

// gpuSystems are the image families with graphics processors, by the name that package gpusize has for their system.
var gpuSystems = map[string]gpusize.Systems{
	ubuntu2004: gpusize.Ubuntu, ubuntu2204: gpusize.Ubuntu, ubuntu2404: gpusize.Ubuntu,
	linux2: gpusize.AzureLinux2, linux3: gpusize.AzureLinux3,
}

// gpuRule decides which driver is installed, and refuses sizes that AKS does not run on the image's system. AKS installs NVIDIA's
// driver alone.
var gpuRule = rule{
	name:  "GPU",
	reads: []string{"$.machine.type.name", "$.machine.type.gpus", "$.machine.gpuDriver", "$.machine.image.wanted", "$.machine.image.family"},
	sets:  []string{"$.node.system.gpu", "$.node.components.scriptVariables", "$.machine.gpuDriverVersion"},
	decide: func(p *problems, d *launch.Document) {
		t := &d.Machine.Type
		size, family := gpusize.Of(t.Name), d.Machine.Image.Family
		if t.GPUs == nil {
			p.Report(false, nodeconfig.Missing, "$.machine.type.gpus", "is not known; no driver is installed")
			return
		}
		switch isWanted := d.Machine.GPUDriver != noDriver; {
		case *t.GPUs == 0, isOwn(d) && !isWanted:
		case isOwn(d):
			p.wrong("$.machine.gpuDriver", "cannot be used with the image family Custom; install the driver in the image, and set gpu.mode to None, or leave it out")
		case size == nil && isWanted:
			p.Report(true, nodeconfig.Missing, "$.machine.gpuDriver", "is wanted, and it is not known which driver "+t.Name+" takes; set gpu.mode None in the class and install the driver otherwise, or use another instance type")
		case size != nil && family != "" && size.Systems&gpuSystems[family] == 0:
			p.wrong("$.machine.image.wanted", "chooses "+family+", on which AKS does not run "+t.Name+"; use another image family or another instance type")
		case !isWanted:
		case size.Driver == "":
			p.wrong("$.machine.gpuDriver", "there is no driver that is installed for "+t.Name+"; set gpu.mode None in the class, and install it otherwise")
		default:
			driver := driverRows[slices.IndexFunc(driverRows, func(r driverRow) bool { return r.kind == size.Driver })]
			d.Machine.GPUDriverVersion = driver.kind + " " + driver.version + "-" + driver.suffix
			d.Node.System.GPU = &nodeconfig.GPU{Vendor: size.Maker, InstallDriver: true}
			d.Node.Components.ScriptVariables = map[string]nodeconfig.Secret{
				"GPU_DRIVER_TYPE": nodeconfig.NewSecret(driver.kind), "GPU_DRIVER_VERSION": nodeconfig.NewSecret(driver.version), "GPU_IMAGE_SHA": nodeconfig.NewSecret(driver.suffix),
			}
		}
	},
}

// placementRow is a disk of the host that the machine's own disk can be on.
type placementRow struct {
	name string
	size func(*launch.InstanceType) int64
	// listed is true if the disk counts only when the type's placements name it. Older lists have no placements; they mean the other
	// disks.
	listed bool
}

// placementRows are tried in this order, and the first with room counts (Karpenter for Azure: ephemeral disks, with its changes 1869
// and 1870).
var placementRows = []placementRow{
	{"NvmeDisk", func(t *launch.InstanceType) int64 { return t.NVMeDiskBytes }, true},
	{"CacheDisk", func(t *launch.InstanceType) int64 { return t.CacheDiskBytes }, false},
	{"ResourceDisk", func(t *launch.InstanceType) int64 { return t.ResourceDiskBytes }, false},
}

// The units of disks. Azure's "GB" of a disk's size are GiB: it compares 180 "GB" as 193273528320 bytes with the host's disks.
const (
	gibibyte = 1 << 30
	// gigabyte is the unit of the capacity that a scheduler gets.
	gigabyte = 1_000_000_000
	// mostHostDisk is the largest disk that can be on the host, whatever the host has (Azure: ephemeral OS disks, size limit).
	mostHostDisk = 2040 * gibibyte
	// guestState is what a trusted launch keeps of the host's disk beside the machine's own (Azure: ephemeral OS disks, trusted launch).
	guestState = gibibyte
)

// hostDisks calls yield for each disk of the host that the machine's own disk can be on.
func hostDisks(t *launch.InstanceType, yield func(placement string, bytes int64)) {
	if !value(t.EphemeralDisk) {
		return
	}
	for _, r := range placementRows {
		if slices.Contains(t.Placements, r.name) || len(t.Placements) == 0 && !r.listed {
			yield(r.name, r.size(t))
		}
	}
}

// placementOf is the first disk of the host with room for the machine's own disk; empty if no disk has room.
func placementOf(m *launch.Machine) (placement string) {
	need := int64(m.Disk.SizeGB) * gibibyte
	if need > mostHostDisk {
		return ""
	}
	if m.Security.Trusted() {
		need += guestState
	}
	hostDisks(&m.Type, func(name string, bytes int64) {
		if placement == "" && bytes >= need {
			placement = name
		}
	})
	return placement
}

// largestHostDisk is the size of the largest disk that the host has room for; 0 if the host has no such disk, or its disks are not known.
func largestHostDisk(t *launch.InstanceType) (largest int64) {
	hostDisks(t, func(_ string, bytes int64) { largest = max(largest, min(bytes, mostHostDisk)) })
	return largest
}

// diskRule decides whether the machine's own disk is on the host: where it fits.
var diskRule = rule{
	name: "disk",
	reads: []string{
		"$.machine.type.ephemeralDisk", "$.machine.type.placements", "$.machine.type.nvmeDiskBytes", "$.machine.type.cacheDiskBytes",
		"$.machine.type.resourceDiskBytes", "$.machine.disk.sizeGB", "$.machine.security.vtpm", "$.machine.security.secureBoot",
	},
	sets: []string{"$.machine.disk.ephemeral", "$.machine.disk.placement"},
	decide: func(p *problems, d *launch.Document) {
		disk := &d.Machine.Disk
		if d.Machine.Type.EphemeralDisk == nil {
			p.Report(false, nodeconfig.Missing, "$.machine.type.ephemeralDisk", "is not known; the disk is a managed one")
		}
		disk.Placement = placementOf(&d.Machine)
		disk.Ephemeral = new(disk.Placement != "")
	},
}

// securityRows are the security features that a class can request, and whether the machine's type supports each; nil means unknown.
var securityRows = []struct {
	path string
	want func(*launch.Security) *bool
	able func(*launch.InstanceType) *bool
}{
	{"$.machine.security.vtpm", func(s *launch.Security) *bool { return s.VTPM }, func(t *launch.InstanceType) *bool { return t.TrustedLaunch }},
	{"$.machine.security.secureBoot", func(s *launch.Security) *bool { return s.SecureBoot }, func(t *launch.InstanceType) *bool { return t.TrustedLaunch }},
	{"$.machine.security.encryptionAtHost", func(s *launch.Security) *bool { return s.EncryptionAtHost }, func(t *launch.InstanceType) *bool { return t.EncryptionAtHost }},
}

// memoryKept are the ways to hide memory from the host that need a special image and machine. Launches do not support them
// (Azure: confidential virtual machines; Karpenter for Azure leaves these sizes out).
var memoryKept = []string{"SNP", "TDX"}

// securityRule compares what is wanted with what the type can do.
var securityRule = rule{
	name:  "security",
	reads: []string{"$.machine.security", "$.machine.type.trustedLaunch", "$.machine.type.encryptionAtHost", "$.machine.type.confidential"},
	decide: func(p *problems, d *launch.Document) {
		m := &d.Machine
		for _, row := range securityRows {
			switch able := row.able(&m.Type); {
			case !value(row.want(&m.Security)):
			case able == nil:
				p.Report(true, nodeconfig.Missing, row.path, "is wanted, and it is not known whether "+m.Type.Name+" has it")
			case !*able:
				p.wrong(row.path, "is wanted, and "+m.Type.Name+" does not have it")
			}
		}
		if slices.Contains(memoryKept, m.Type.Confidential) {
			p.wrong("$.machine.type.confidential", "is "+m.Type.Confidential+", and a launch makes no machine that keeps its memory from the host; use another instance type")
		}
	},
}

// streamingRule starts containers before their image has arrived; AKS has it for amd64 alone, and a class that wants it has no nodes of
// another architecture (Karpenter for Azure: isInstanceTypeSupportedByArtifactStreaming).
var streamingRule = rule{
	name:  "streaming",
	reads: []string{"$.machine.streaming", "$.machine.type.architecture", "$.machine.image.wanted"},
	sets:  []string{"$.node.runtime.lazyPull"},
	decide: func(p *problems, d *launch.Document) {
		switch {
		case !value(d.Machine.Streaming):
		case isOwn(d):
			p.Report(false, nodeconfig.NotApplied, "$.machine.streaming", "is not applied: the snapshotter for it is one of AKS's images")
		case d.Machine.Type.Architecture == "arm64":
			p.wrong("$.machine.streaming", "is wanted, and AKS's images for arm64 have no snapshotter; use an instance type of amd64, or take artifactStreaming out of the class")
		default:
			d.Node.Runtime.LazyPull = "overlaybd"
		}
	},
}
