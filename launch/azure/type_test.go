package azure

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestInstanceTypes compares the built-in types with those that the example's list has, and wants each to be whole.
func TestInstanceTypes(t *testing.T) {
	data := example(t, "skus.json")
	compared := 0
	seen := make(map[string]bool)
	for _, known := range InstanceTypes() {
		if seen[known.Name] || known.VCPUs < 2 || known.MemoryBytes < int64(known.VCPUs)<<31 || len(known.Generations) == 0 || value(known.EphemeralDisk) != (known.CacheDiskBytes > 0) {
			t.Errorf("%+v", known)
		}
		seen[known.Name] = true
		listed, err := ReadInstanceType(data, known.Name, "")
		if err != nil {
			continue
		}
		compared++
		if !reflect.DeepEqual(*listed, known) {
			t.Errorf("%+v\n%+v", *listed, known)
		}
	}
	if compared < 3 || len(seen) < 90 {
		t.Errorf("%d types, of which %d were compared", len(seen), compared)
	}
	if _, err := KnownInstanceType("Standard_D3s_v5"); err == nil {
		t.Error("a size that there is not is known")
	}
}

// A list can have a type for several regions, and restrictions of a subscription (Azure: Resource SKUs).
func TestReadInstanceTypes(t *testing.T) {
	const list = `[
  {"name": "Standard_D2s_v5", "resourceType": "virtualMachines", "locations": ["westus"], "locationInfo": [{"location": "westus", "zones": []}], "capabilities": [{"name": "vCPUs", "value": "2"}]},
  {"name": "Standard_D2s_v5", "resourceType": "virtualMachines", "locations": ["EastUS"], "locationInfo": [{"location": "EastUS", "zones": ["3", "1", "2"]}],
   "restrictions": [{"type": "Zone", "reasonCode": "NotAvailableForSubscription", "values": ["eastus"], "restrictionInfo": {"locations": ["eastus"], "zones": ["2"]}}]},
  {"name": "Standard_D4s_v5", "locations": ["eastus"], "locationInfo": [{"location": "eastus", "zones": ["1"]}],
   "restrictions": [{"type": "Zone", "reasonCode": "NotAvailableForSubscription", "values": ["eastus"], "restrictionInfo": {"locations": ["eastus"], "zones": ["1"]}}]},
  {"name": "Standard_D8s_v5", "locationInfo": [{"location": "eastus", "zones": ["1"]}], "restrictions": [{"type": "Location", "reasonCode": "QuotaId", "values": ["eastus"], "restrictionInfo": {"locations": ["eastus"]}}]},
  {"name": "Standard_D8s_v5", "locationInfo": [{"location": "westus", "zones": ["1"]}], "restrictions": [{"type": "Location", "reasonCode": "QuotaId", "values": ["eastus"], "restrictionInfo": {"locations": ["eastus"]}}]},
  {"name": "Standard_DC4as_v5", "locations": ["northeurope"], "capabilities": [{"name": "ConfidentialComputingType", "value": "SNP"}, {"name": "MaxNetworkInterfaces", "value": "2"}]},
  {"name": "Standard_NC24ads_A100_v4", "locations": ["northeurope"], "capabilities": [{"name": "GPUs", "value": "1"}]},
  {"name": "Standard_NC6s_v3", "locations": ["northeurope"], "capabilities": [{"name": "GPUs", "value": "1"}]},
  {"name": "Premium_LRS", "resourceType": "disks", "locations": ["eastus"]}
]`
	for location, want := range map[string][]string{
		"eastus":      {"Standard_D2s_v5 [eastus-1 eastus-3] ", "Standard_D4s_v5 [] ", "Standard_D8s_v5 [eastus-1] QuotaId"},
		"WestUS":      {"Standard_D2s_v5 unknown ", "Standard_D8s_v5 [westus-1] "},
		"northeurope": {"Standard_DC4as_v5 unknown ", "Standard_NC24ads_A100_v4 unknown ", "Standard_NC6s_v3 unknown "},
		"":            {"Standard_D2s_v5 unknown ", "Standard_D4s_v5 unknown ", "Standard_D8s_v5 unknown ", "Standard_DC4as_v5 unknown ", "Standard_NC24ads_A100_v4 unknown ", "Standard_NC6s_v3 unknown "},
	} {
		all, err := ReadInstanceTypes([]byte(list), location)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, each := range all {
			zones := "unknown"
			if each.Zones != nil {
				zones = fmt.Sprint(each.Zones)
			}
			got = append(got, each.Name+" "+zones+" "+each.Unavailable)
			one, err := ReadInstanceType([]byte(list), strings.ToUpper(each.Name), location)
			if err != nil || !reflect.DeepEqual(*one, each) {
				t.Errorf("%s in %q: %+v and %+v, %v", each.Name, location, one, each, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", location, got, want)
		}
	}
	for _, c := range []struct{ name, location, want string }{
		{"Standard_D4s_v5", "westus", "the list has the instance type \"Standard_D4s_v5\" for [\"eastus\"], and not for westus"},
		{"Standard_None", "eastus", "does not have the instance type"},
	} {
		_, err := ReadInstanceType([]byte(list), c.name, c.location)
		if _, unknown := errors.AsType[*UnknownTypeError](err); !unknown || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v", c.name, c.location, err)
		}
	}
	if _, err := ReadInstanceTypes([]byte(list), "eastsu"); err == nil || !strings.Contains(err.Error(), `no instance types of the region "eastsu"`) {
		t.Error(err)
	}
	for name, want := range map[string]string{"Standard_DC4as_v5": "SNP//", "Standard_NC24ads_A100_v4": "/nvidia/A100", "Standard_NC6s_v3": "/nvidia/V100"} {
		one, err := ReadInstanceType([]byte(list), name, "")
		if err != nil || one.Confidential+"/"+one.GPUManufacturer+"/"+one.GPUName != want || one.Addresses != 256 || name == "Standard_DC4as_v5" && one.Interfaces != 2 {
			t.Errorf("%+v, %v", one, err)
		}
	}
}

// Whether a type can be a spot machine, and where it has Ultra SSD, is in a list in four ways (Azure: Resource SKUs).
func TestOfferings(t *testing.T) {
	const list = `[
  {"name": "Standard_A", "family": "standardAFamily", "locationInfo": [{"location": "EastUS", "zones": ["1", "2", "3"], "zoneDetails": [
    {"name": ["3", "1"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}, {"name": ["2"], "capabilities": [{"name": "UltraSSDAvailable", "value": "False"}]}]},
    {"location": "westus", "zones": ["1"], "zoneDetails": [{"name": ["1"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}]}],
   "capabilities": [{"name": "LowPriorityCapable", "value": "True"}]},
  {"name": "Standard_B", "locationInfo": [{"location": "eastus"}], "capabilities": [{"name": "LowPriorityCapable", "value": "False"}, {"name": "UltraSSDAvailable", "value": "True"}]},
  {"name": "Standard_C", "locationInfo": [{"location": "eastus"}], "capabilities": [{"name": "vCPUs", "value": "2"}]},
  {"name": "Standard_D", "locationInfo": [{"location": "eastus"}]}]`
	const notKnown, no, able = -1, 0, 1
	for _, c := range []struct {
		name  string
		spot  int
		ultra []string
	}{
		{"Standard_A", able, []string{"eastus-1", "eastus-3"}}, {"Standard_B", no, []string{regional}}, {"Standard_C", notKnown, []string{}}, {"Standard_D", notKnown, nil},
	} {
		one, err := ReadInstanceType([]byte(list), c.name, "eastus")
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "standardAFamily"}[c.name == "Standard_A"]; one.Family != want {
			t.Errorf("%s: the family is %q", c.name, one.Family)
		}
		spotAble := notKnown
		if one.Spot != nil {
			spotAble = map[bool]int{true: able, false: no}[*one.Spot]
		}
		if spotAble != c.spot || !reflect.DeepEqual(one.UltraSSDZones, c.ultra) {
			t.Errorf("%s: %d, %q", c.name, spotAble, one.UltraSSDZones)
		}
		for kind, wrong := range map[string]bool{onDemand: false, spot: c.spot == no, "reserved": true, "xspot": true} {
			d := &launch.Document{Machine: launch.Machine{Type: *one, CapacityType: kind}}
			if found := nodeconfig.Fatal(offeringRule.run(d)); (len(found) > 0) != wrong {
				t.Errorf("%s, %s: %v", c.name, kind, found)
			}
		}
		for _, zone := range []string{"eastus-1", "eastus-2", ""} {
			d := &launch.Document{Machine: launch.Machine{Type: *one, Zone: zone}}
			d.Node.Kubelet.Labels = map[string]string{labelUltraSSD: "true"}
			has := slices.Contains(c.ultra, cmp.Or(zone, regional))
			if found := ultraSSDRule.run(d); (len(found) == 0) != has || value(d.Machine.UltraSSD) != has {
				t.Errorf("%s in %q: %v", c.name, zone, found)
			}
		}
	}
}

// FuzzReadInstanceTypes: any list is read or refused; each type is there once, and by itself the same.
func FuzzReadInstanceTypes(f *testing.F) {
	f.Add(example(f, "skus.json"), "eastus")
	f.Add([]byte(`[{"name":"a","capabilities":[{"name":"vCPUs","value":"-1"},{"name":"MemoryGB","value":"NaN"}]},{"name":"b"}]`), "eastus")
	f.Add([]byte(`[{"name":"A","locations":["x"],"restrictions":[{"type":"Zone","restrictionInfo":{"zones":["1"]}}],"locationInfo":[{"location":"x","zones":["1"]}]},{"name":"a"}]`), "X")
	f.Add([]byte(`[{"capabilities":[{"name":"MaxNetworkInterfaces","value":"-1"}]}]`), "")
	f.Fuzz(func(t *testing.T, data []byte, location string) {
		all, err := ReadInstanceTypes(data, location)
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, each := range all {
			if name := strings.ToLower(each.Name); seen[name] {
				t.Errorf("%q is there twice", each.Name)
			} else {
				seen[name] = true
			}
			if one, err := ReadInstanceType(data, each.Name, location); err != nil || !reflect.DeepEqual(*one, each) {
				t.Errorf("%q: %+v and %+v, %v", each.Name, one, each, err)
			}
			if each.Interfaces < 0 || each.MemoryBytes < 0 || each.CacheDiskBytes < 0 || each.ResourceDiskBytes < 0 || each.NVMeDiskBytes < 0 || each.Zones != nil && location == "" {
				t.Errorf("%+v", each)
			}
		}
	})
}
