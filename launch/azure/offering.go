package azure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// regional is the zone that Azure's cloud provider labels a machine in no zone with: its fault domain (cloud-provider-azure:
// azure_standard.go, GetZoneByNodeName).
const regional = "0"

// Offering is an instance type in a zone as a capacity type.
type Offering struct{ Type, Zone, CapacityType string }

// Offerings are all of an instance type: as a spot machine unless it is known that it cannot be one, in each of its zones, and in no zone,
// because the region may have room if a zone has none (Karpenter for Azure v1.7: instanceTypeZones).
func Offerings(t *launch.InstanceType) []Offering {
	var all []Offering
	for _, zone := range append(slices.Clip(t.Zones), regional) {
		for _, kind := range capacityTypes {
			if kind == onDemand || t.Spot == nil || *t.Spot {
				all = append(all, Offering{t.Name, zone, kind})
			}
		}
	}
	return all
}

// Labels are the labels of a node that follow from the offering, each with the values that it can have.
func (o Offering) Labels(t *launch.InstanceType) map[string][]string {
	ultraSSD := []string{"false"}
	if slices.Contains(t.UltraSSDZones, o.Zone) {
		ultraSSD = append(ultraSSD, "true")
	}
	return map[string][]string{labelZone: {o.Zone}, labelScope: {scope(o.Zone)}, labelCapacityType: {o.CapacityType}, labelUltraSSD: ultraSSD}
}

// IsZone reports whether the value of a zone's label names a zone; else the cloud chooses a place in the region.
func IsZone(zone string) bool { return zone != "" && zone != regional }

// scope is where in a region a machine may be, as a label has it.
func scope(zone string) string {
	if IsZone(zone) {
		return "zonal"
	}
	return "regional"
}

// zoneRule compares the zone with the region, where it is not known which zones the instance type has. Azure's cloud provider labels
// nodes with both: "eastus-1".
var zoneRule = rule{
	name:  "zone",
	reads: []string{"$.machine.zone", "$.machine.type.zones", "$.node.cloud.azure.location"},
	decide: func(p *problems, d *launch.Document) {
		m, location := &d.Machine, azureOf(d).Location
		if region := m.Zone[:max(strings.LastIndexByte(m.Zone, '-'), 0)]; m.Zone != "" && m.Type.Zones == nil && location != "" && !strings.EqualFold(region, location) {
			p.wrong("$.machine.zone", "is no zone of "+location+"; ask for one such as "+strings.ToLower(location)+"-1")
		}
	},
}

// The capacity types that Azure has (Karpenter for Azure: WellKnownValuesForRequirements).
const (
	onDemand = "on-demand"
	spot     = "spot"
)

var capacityTypes = []string{onDemand, spot}

// offeringRule compares the capacity type with the instance type. Not each instance type can be a spot machine (Azure: Resource SKUs,
// LowPriorityCapable).
var offeringRule = rule{
	name:  "capacity type",
	reads: []string{"$.machine.capacityType", "$.machine.type.spot", "$.machine.type.name"},
	decide: func(p *problems, d *launch.Document) {
		m := &d.Machine
		const path = "$.machine.capacityType"
		p.oneOf(path, &m.CapacityType, capacityTypes)
		switch able := m.Type.Spot; {
		case m.CapacityType != spot:
		case able == nil:
			p.Report(false, nodeconfig.Missing, "$.machine.type.spot", "is not known; Azure may refuse a spot machine")
		case !*able:
			p.wrong(path, "is spot, and "+m.Type.Name+" cannot be a spot machine; use on-demand, or another instance type")
		}
	},
}

// noNode is how the names of sizes begin that AKS never takes (Karpenter for Azure: AKSRestrictedVMSizes).
const noNode = "basic_"

// smallestRows are the smallest machines for what is wanted of them (AKS docs: node pools, LocalDNS; Karpenter for Azure: isSupported,
// isInstanceTypeSupportedByLocalDNS).
var smallestRows = []struct {
	path, what string
	wanted     func(*launch.Document) bool
	vcpus      int
	memory     int64
}{
	{"$.machine.type.name", "a node", func(*launch.Document) bool { return true }, 2, 3.5 * gibibyte},
	{"$.node.network.localDNS", "the DNS cache", func(d *launch.Document) bool { return d.Node.Network.LocalDNS != nil }, 4, 256_000_000},
}

// sizeRule compares the instance type with what AKS runs on it.
var sizeRule = rule{
	name:  "size",
	reads: []string{"$.machine.type.name", "$.machine.type.vcpus", "$.machine.type.memoryBytes", "$.machine.image.wanted", "$.node.network.localDNS"},
	decide: func(p *problems, d *launch.Document) {
		t := &d.Machine.Type
		if isOwn(d) {
			return
		}
		if strings.HasPrefix(strings.ToLower(t.Name), noNode) {
			p.wrong("$.machine.type.name", "is "+t.Name+", and AKS takes none of the sizes Basic as a node; use another instance type")
		}
		for _, row := range smallestRows {
			if row.wanted(d) && (t.VCPUs > 0 && t.VCPUs < row.vcpus || t.MemoryBytes > 0 && t.MemoryBytes < row.memory) {
				p.wrong(row.path, fmt.Sprintf("%s is too small for %s on AKS, which takes %d processors and %d MiB; use another instance type",
					t.Name, row.what, row.vcpus, row.memory>>20))
			}
		}
	},
}

// pathUltraSSD is the label of Ultra SSD in a launch.
var pathUltraSSD = field("$.node.kubelet.labels", labelUltraSSD)

// ultraSSDRule makes the machine ready for Ultra SSD, if the pool wants that by the label (Azure: Ultra disks; Resource SKUs,
// UltraSSDAvailable).
var ultraSSDRule = rule{
	name:  "Ultra SSD",
	reads: []string{pathUltraSSD, "$.machine.type.ultraSSDZones", "$.machine.type.name", "$.machine.zone"},
	sets:  []string{"$.machine.ultraSSD"},
	decide: func(p *problems, d *launch.Document) {
		m, wanted := &d.Machine, d.Node.Kubelet.Labels[labelUltraSSD]
		switch {
		case wanted == "" || wanted == "false":
		case wanted != "true":
			p.wrong(pathUltraSSD, "want true or false")
		case m.Type.UltraSSDZones == nil:
			p.Report(true, nodeconfig.Missing, pathUltraSSD, "is true, and it is not known where "+m.Type.Name+" has Ultra SSD")
		case !slices.Contains(m.Type.UltraSSDZones, cmp.Or(m.Zone, regional)):
			p.wrong(pathUltraSSD, "is true, and "+m.Type.Name+" has no Ultra SSD "+cmp.Or(when(m.Zone != "", "in "+m.Zone), "without a zone"))
		default:
			m.UltraSSD = new(true)
		}
	},
}
