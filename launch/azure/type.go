package azure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/launch"
)

// mostTypes bounds a list of instance types: Azure has about a thousand in a region, each once or more.
const mostTypes = 100_000

// sku is an entry of Azure's list of resource SKUs.
type sku struct {
	Name         string `json:"name"`
	ResourceType string `json:"resourceType"`
	LocationInfo []struct {
		Location string   `json:"location"`
		Zones    []string `json:"zones"`
	} `json:"locationInfo"`
	Capabilities []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"capabilities"`
}

// architectures are Kubernetes' names by Azure's.
var architectures = map[string]string{"x64": "amd64", "Arm64": "arm64"}

// UnknownTypeError says that a list does not have an instance type.
type UnknownTypeError struct {
	Name  string
	where string
}

// Error names the type.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("%s does not have the instance type %q; az vm list-skus --size %s -o json writes a list that has it", e.where, e.Name, e.Name)
}

// ReadInstanceType takes an instance type from a list that "az vm list-skus -o json" has written. Location names the region of
// the zones. What the list does not say is not known. The error can be an [*UnknownTypeError].
func ReadInstanceType(data []byte, name, location string) (*launch.InstanceType, error) {
	list, err := readSKUs(data)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(s sku) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil, &UnknownTypeError{name, "the list"}
	}
	return list[i].instanceType(location)
}

// ReadInstanceTypes takes all instance types from such a list, by name.
func ReadInstanceTypes(data []byte, location string) ([]launch.InstanceType, error) {
	list, err := readSKUs(data)
	if err != nil {
		return nil, err
	}
	all := make([]launch.InstanceType, 0, len(list))
	for i := range list {
		t, err := list[i].instanceType(location)
		if err != nil {
			return nil, err
		}
		all = append(all, *t)
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

// instanceType is what the entry says (Azure: Resource SKUs, capabilities).
func (s *sku) instanceType(location string) (*launch.InstanceType, error) {
	t := &launch.InstanceType{Name: s.Name}
	for _, at := range s.LocationInfo {
		if strings.EqualFold(at.Location, location) && len(at.Zones) > 0 {
			for _, zone := range at.Zones {
				t.Zones = append(t.Zones, strings.ToLower(location)+"-"+zone) // as Azure's cloud provider labels nodes
			}
			slices.Sort(t.Zones)
		}
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
	if value(t.GPUs) > 0 { // which kind it is, is in the name alone
		n, _ := sizeNameOf(t.Name)
		t.GPUManufacturer, t.GPUName = vendorOf(t.Name), n.gpu()
	}
	// Azure's lists have these two only where the answer is not the usual one.
	if t.GPUs == nil {
		t.GPUs = new(0)
	}
	if t.TrustedLaunch == nil && len(t.Generations) > 0 {
		t.TrustedLaunch = new(slices.Contains(t.Generations, "2"))
	}
	return t, nil
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
