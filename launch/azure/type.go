package azure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/launch"
)

// mostTypes bounds a list of instance types: Azure has about a thousand in a region, each once or more.
const mostTypes = 100_000

// sku is an entry of Azure's list of resource SKUs.
type sku struct {
	Name         string `json:"name"`
	Family       string `json:"family"`
	ResourceType string `json:"resourceType"`
	// Locations are the regions that the entry is of. A list of several regions has an entry for each.
	Locations    []string `json:"locations"`
	LocationInfo []struct {
		Location string   `json:"location"`
		Zones    []string `json:"zones"`
		// ZoneDetails are what the type can do in some of the zones, beside its capabilities.
		ZoneDetails []struct {
			Name         []string     `json:"name"`
			Capabilities []capability `json:"capabilities"`
		} `json:"zoneDetails"`
	} `json:"locationInfo"`
	Restrictions []restriction `json:"restrictions"`
	Capabilities []capability  `json:"capabilities"`
}

type capability struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// restriction excludes an instance type for a subscription, in a whole region or in some of its zones (Azure: Resource SKUs,
// restrictions).
type restriction struct {
	Type       string   `json:"type"` // "Location" or "Zone"
	ReasonCode string   `json:"reasonCode"`
	Values     []string `json:"values"` // regions
	Info       struct {
		Locations []string `json:"locations"`
		Zones     []string `json:"zones"`
	} `json:"restrictionInfo"`
}

// isOf reports whether a list has a region. An empty list has all regions, and an empty region is in each list.
func isOf(regions []string, location string) bool {
	return len(regions) == 0 || location == "" || slices.ContainsFunc(regions, func(r string) bool { return strings.EqualFold(r, location) })
}

// regions are those of the entry.
func (s *sku) regions() []string {
	if len(s.Locations) > 0 {
		return s.Locations
	}
	regions := make([]string, 0, len(s.LocationInfo))
	for _, at := range s.LocationInfo {
		regions = append(regions, at.Location)
	}
	return regions
}

// architectures are Kubernetes' names by Azure's.
var architectures = map[string]string{"x64": "amd64", "Arm64": "arm64"}

// UnknownTypeError is the error if a list does not have an instance type.
type UnknownTypeError struct {
	Name  string
	where string
	// location is the wanted region, if the list has the type only for other regions.
	location  string
	elsewhere []string
}

// shownRegions is how many regions an error names.
const shownRegions = 5

// Error names the type, and what writes a list that has it.
func (e *UnknownTypeError) Error() string {
	if e.location != "" {
		others := ""
		if more := len(e.elsewhere) - shownRegions; more > 0 {
			others = fmt.Sprintf(" and %d more", more)
		}
		return fmt.Sprintf("%s has the instance type %q for %q%s, and not for %s; az vm list-skus --location %s --size %s -o json writes a list that has it",
			e.where, e.Name, e.elsewhere[:min(len(e.elsewhere), shownRegions)], others, e.location, e.location, e.Name)
	}
	return fmt.Sprintf("%s does not have the instance type %q; az vm list-skus --size %s -o json writes a list that has it", e.where, e.Name, e.Name)
}

// ReadInstanceType reads an instance type from the output of "az vm list-skus -o json". It uses the entry for the region location. Values
// that the list does not have stay unknown. The error can be an [*UnknownTypeError].
func ReadInstanceType(data []byte, name, location string) (*launch.InstanceType, error) {
	list, err := readSKUs(data)
	if err != nil {
		return nil, err
	}
	unknown := &UnknownTypeError{Name: name, where: "the list"}
	for i := range list {
		switch s := &list[i]; {
		case !strings.EqualFold(s.Name, name):
		case isOf(s.regions(), location):
			return s.instanceType(location)
		default:
			unknown.location, unknown.elsewhere = location, append(unknown.elsewhere, s.regions()...)
		}
	}
	return nil, unknown
}

// ReadInstanceTypes takes all instance types of a region from such a list, by name, each once. Without a location they are those of all
// regions, and in which zones they are is not known.
func ReadInstanceTypes(data []byte, location string) ([]launch.InstanceType, error) {
	list, err := readSKUs(data)
	if err != nil {
		return nil, err
	}
	all := make([]launch.InstanceType, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i := range list {
		s := &list[i]
		name := strings.ToLower(s.Name)
		if seen[name] || !isOf(s.regions(), location) {
			continue
		}
		seen[name] = true
		t, err := s.instanceType(location)
		if err != nil {
			return nil, err
		}
		all = append(all, *t)
	}
	if len(all) == 0 && len(list) > 0 {
		return nil, fmt.Errorf("the list has no instance types of the region %q; az vm list-skus --location %s -o json writes one", location, location)
	}
	slices.SortFunc(all, func(a, b launch.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// readSKUs reads the virtual machines of a list.
func readSKUs(data []byte) ([]sku, error) {
	var list []sku
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("the list of instance types is not one of az vm list-skus: %w", err)
	}
	if len(list) > mostTypes {
		return nil, fmt.Errorf("the list has %d instance types, and no region has more than %d", len(list), mostTypes)
	}
	return slices.DeleteFunc(list, func(s sku) bool { return s.ResourceType != "" && s.ResourceType != "virtualMachines" }), nil
}

// instanceType returns the entry's instance type (Azure: Resource SKUs, capabilities).
func (s *sku) instanceType(location string) (*launch.InstanceType, error) {
	t := &launch.InstanceType{Name: s.Name, Family: s.Family, Addresses: addressesEach}
	if location != "" {
		s.place(t, location)
	}
	if len(s.Capabilities) == 0 {
		return t, nil
	}
	available := ""
	for _, c := range s.Capabilities {
		if c.Name == "vCPUsAvailable" {
			available = c.Value
		}
		take, known := capabilities[c.Name]
		if !known {
			continue
		}
		if err := take(t, c.Value); err != nil {
			return nil, fmt.Errorf("the instance type %s: the capability %s is not as Azure has it", s.Name, c.Name)
		}
	}
	if n, err := strconv.Atoi(available); err == nil {
		t.VCPUs = n // of a constrained size, which has fewer than vCPUs says
	}
	// Azure's lists have these two only where the answer is not the usual one.
	if t.GPUs == nil {
		t.GPUs = new(0)
	}
	if *t.GPUs > 0 { // which kind it is, is in the name alone
		n, _ := sizeNameOf(t.Name)
		t.GPUName = n.gpu()
		if known := gpusize.Of(t.Name); known != nil {
			t.GPUManufacturer = known.Maker
		}
	}
	if location != "" {
		s.ultraSSD(t, location)
	}
	if t.TrustedLaunch == nil && len(t.Generations) > 0 {
		t.TrustedLaunch = new(slices.Contains(t.Generations, "2"))
	}
	return t, nil
}

// addressesEach is how many private addresses an interface can have, on each type (Azure: networking limits).
const addressesEach = 256

// place sets the zones of a region in which the subscription can use the type, or that it cannot use it at all.
func (s *sku) place(t *launch.InstanceType, location string) {
	var without []string
	for _, r := range s.Restrictions {
		if !isOf(r.Values, location) || !isOf(r.Info.Locations, location) {
			continue
		}
		switch r.Type {
		case "Location":
			t.Unavailable = cmp.Or(r.ReasonCode, "it is restricted")
		case "Zone":
			without = append(without, r.Info.Zones...)
		}
	}
	for _, at := range s.LocationInfo {
		if !strings.EqualFold(at.Location, location) || len(at.Zones) == 0 {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(at.Zones), func(zone string) bool { return slices.Contains(without, zone) })
		t.Zones = labelZones(location, left) // that none is left is known
		slices.Sort(t.Zones)
	}
}

// ultraSSD sets the zones of a region in which the type can have Ultra SSD. An empty list means that no zone has it.
func (s *sku) ultraSSD(t *launch.InstanceType, location string) {
	has := func(all []capability) bool {
		return slices.ContainsFunc(all, func(c capability) bool { return c.Name == "UltraSSDAvailable" && strings.EqualFold(c.Value, "true") })
	}
	t.UltraSSDZones = make([]string, 0) // that it has it nowhere is known
	for _, at := range s.LocationInfo {
		for _, detail := range at.ZoneDetails {
			if strings.EqualFold(at.Location, location) && has(detail.Capabilities) {
				t.UltraSSDZones = append(t.UltraSSDZones, labelZones(location, detail.Name)...)
			}
		}
	}
	slices.Sort(t.UltraSSDZones)
	if has(s.Capabilities) {
		t.UltraSSDZones = append(t.UltraSSDZones, regional)
	}
}

// labelZones are zones of a region, as Azure's cloud provider labels nodes.
func labelZones(location string, zones []string) []string {
	all := make([]string, len(zones))
	for i, zone := range zones {
		all[i] = strings.ToLower(location) + "-" + zone
	}
	return all
}

// capabilities are those that a decision needs.
var capabilities = map[string]func(*launch.InstanceType, string) error{
	"vCPUs":               func(t *launch.InstanceType, v string) (err error) { t.VCPUs, err = strconv.Atoi(v); return err },
	"MemoryGB":            memory,
	"HyperVGenerations":   func(t *launch.InstanceType, v string) error { t.Generations = generations(v); return nil },
	"CpuArchitectureType": architecture,
	"GPUs": func(t *launch.InstanceType, v string) error {
		n, err := strconv.Atoi(v)
		t.GPUs = &n
		return err
	},
	"CachedDiskBytes":                    bytes(func(t *launch.InstanceType) *int64 { return &t.CacheDiskBytes }, 1),
	"MaxResourceVolumeMB":                bytes(func(t *launch.InstanceType) *int64 { return &t.ResourceDiskBytes }, 1<<20),
	"NvmeDiskSizeInMiB":                  bytes(func(t *launch.InstanceType) *int64 { return &t.NVMeDiskBytes }, 1<<20),
	"SupportedEphemeralOSDiskPlacements": func(t *launch.InstanceType, v string) error { t.Placements = list(v); return nil },
	"EphemeralOSDiskSupported":           able(func(t *launch.InstanceType) **bool { return &t.EphemeralDisk }, false),
	"PremiumIO":                          able(func(t *launch.InstanceType) **bool { return &t.PremiumStorage }, false),
	"AcceleratedNetworkingEnabled":       able(func(t *launch.InstanceType) **bool { return &t.AcceleratedNetworking }, false),
	"TrustedLaunchDisabled":              able(func(t *launch.InstanceType) **bool { return &t.TrustedLaunch }, true),
	"MaxNetworkInterfaces":               interfaces,
	"LowPriorityCapable":                 able(func(t *launch.InstanceType) **bool { return &t.Spot }, false),
	"ConfidentialComputingType":          func(t *launch.InstanceType, v string) error { t.Confidential = v; return nil },
	"EncryptionAtHostSupported":          able(func(t *launch.InstanceType) **bool { return &t.EncryptionAtHost }, false),
}

func memory(t *launch.InstanceType, v string) error {
	gibibytes, err := strconv.ParseFloat(v, 64)
	if err != nil || !(gibibytes > 0 && gibibytes < 1<<20) {
		return strconv.ErrRange
	}
	t.MemoryBytes = int64(gibibytes * (1 << 30))
	return nil
}

func interfaces(t *launch.InstanceType, v string) error {
	n, err := strconv.ParseUint(v, 10, 16)
	t.Interfaces = int(n)
	return err
}

func architecture(t *launch.InstanceType, v string) error {
	var known bool
	if t.Architecture, known = architectures[v]; !known {
		return strconv.ErrSyntax
	}
	return nil
}

// generations reads "V1,V2".
func generations(v string) []string {
	var all []string
	for _, g := range list(v) {
		all = append(all, strings.TrimPrefix(g, "V"))
	}
	return all
}

func bytes(field func(*launch.InstanceType) *int64, unit int64) func(*launch.InstanceType, string) error {
	return func(t *launch.InstanceType, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 || n > 1<<60/unit {
			return strconv.ErrRange
		}
		*field(t) = n * unit
		return nil
	}
}

// able reads "True" and "False"; not is for a capability that is named by its absence.
func able(field func(*launch.InstanceType) **bool, not bool) func(*launch.InstanceType, string) error {
	return func(t *launch.InstanceType, v string) error {
		b, err := strconv.ParseBool(v)
		*field(t) = new(b != not)
		return err
	}
}
