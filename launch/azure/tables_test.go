package azure

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The rows are Karpenter for Azure's (imagefamily, GetImageFamily).
func TestFamily(t *testing.T) {
	for _, c := range []struct {
		wanted        string
		fips, trusted bool
		version, want string
	}{
		{"", false, false, "1.33.9", ubuntu2204},
		{"", false, false, "1.34.0", ubuntu2404},
		{"Ubuntu", false, false, "1.34.0-rc.1", ubuntu2204},
		{"Ubuntu", false, false, "1.40.1", ubuntu2404},
		{"Ubuntu", false, false, "not a version", ubuntu2204},
		{"Ubuntu", true, false, "1.34.2", ubuntu2004},
		{"Ubuntu", true, true, "1.34.2", ubuntu2204},
		{"Ubuntu", false, true, "1.34.2", ubuntu2204},
		{"Ubuntu2204", false, false, "1.36.0", ubuntu2204},
		{"Ubuntu2404", false, false, "1.30.0", ubuntu2404},
		{"AzureLinux", false, false, "1.31.9", linux2},
		{"AzureLinux", false, false, "1.32.0", linux3},
		{"AzureLinux", false, false, "", linux2},
		{"Windows", false, false, "1.34.2", ""},
		{"Custom", true, true, "1.34.2", custom},
	} {
		if got := familyOf(c.wanted, c.fips, c.trusted, c.version); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// The goldens are those of the code that made cluster IDs until 2026, and of its test.
func TestClusterID(t *testing.T) {
	for prefix, want := range map[string]string{
		"environment-cluster-id-value-for-": "46593302", // of environment-cluster-id-value-for-testing
		"":                                  "12857252",
	} {
		if got := hashed(prefix); got != want {
			t.Errorf("%q: %s, want %s", prefix, got, want)
		}
	}
	for host, want := range map[string]string{
		"karpenter-000000000000.hcp.westus2.staging.azmk8s.io":   "34455734",
		"test-cluster-0123456789abcdefghij.hcp.eastus.azmk8s.io": "65683731",
		"short.hcp.eastus.azmk8s.io":                             "characters",
		"":                                                       "no name",
		"10.0.0.1":                                               "an address",
		"[2001:db8:1111:2222:3333:4444:5555:6666]":               "an address",
		"example-dns-0123456789.privatelink.eastus.azmk8s.io":      "private zone",
		"api.example-cluster-with-a-long-name.private.example.com": "private zone",
	} {
		id, err := hashedClusterID(host)
		if err != nil {
			id = err.Error()
		}
		if !strings.Contains(id, want) {
			t.Errorf("%q: %s, want %s", host, id, want)
		}
	}
	for _, c := range []struct {
		groups []string
		id     string
		many   int
	}{
		{[]string{"bastion-nsg", "AKS-AgentPool-12345678-NSG"}, "12345678", 0},
		{[]string{"aks-agentpool-1234567-nsg", "aks-agentpool-123456789-nsg", "aks-agentpool-1234567x-nsg"}, "", 0},
		{nil, "", 0},
		{[]string{"aks-agentpool-87654321-nsg", "aks-agentpool-12345678-nsg"}, "", 2},
	} {
		id, _, err := SecurityGroups(c.groups)
		unknown, _ := err.(*ClusterIDError)
		if id != c.id || (err == nil) != (c.id != "") || unknown != nil && len(unknown.Candidates) != c.many {
			t.Errorf("%v: %s, %v", c.groups, id, err)
		}
	}
}

func TestClusterLabel(t *testing.T) {
	long := strings.Repeat("a", 62)
	for group, want := range map[string]string{
		"MC_a_b_c": "MC_a_b_c", "a(b)": "a-b-z", "a.": "a.z", "": "",
		long + "bc": long + "b", long + "-c": long + "z", long + "(c": long + "z",
	} {
		if got := clusterLabel(group); got != want {
			t.Errorf("%q: %q, want %q", group, got, want)
		}
	}
}

// The kubelet's flags by version (Karpenter for Azure: bootstrap/aksbootstrap.go).
func TestFlags(t *testing.T) {
	for version, want := range map[string]string{
		"1.29.9": "azure-container-registry-config cloud-config cloud-provider feature-gates keep-terminated-pod-volumes pod-infra-container-image",
		"1.30.0": "cloud-config cloud-provider keep-terminated-pod-volumes pod-infra-container-image",
		"1.31.0": "cloud-config cloud-provider pod-infra-container-image",
		"1.34.0": "cloud-provider pod-infra-container-image",
		"1.35.0": "cloud-provider",
		"1.99.0": "cloud-provider",
	} {
		var names []string
		for _, f := range flags(version, false) {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// A cluster of one's own has no usual address of its DNS service, and none of the flags that are of AKS's images.
func TestOwnCluster(t *testing.T) {
	own := &launch.Document{Machine: launch.Machine{Image: launch.Image{Wanted: custom}}}
	own.Node.Kubelet.Config = make(map[string]any)
	own.Node.Cluster.KubernetesVersion = "1.29.1"
	found := kubeletRule.run(own)
	if k := own.Node.Kubelet; len(found) != 1 || !found[0].Fatal || len(k.Flags) != 1 || k.Flags[0].Name != "cloud-provider" || k.ImageCredentialProvider != nil {
		t.Errorf("%v, %+v", found, own.Node.Kubelet)
	}
	own.Machine.Network.DNS = []string{"10.96.0.10"}
	if found := kubeletRule.run(own); len(found) != 0 || fmt.Sprint(own.Node.Kubelet.Config["clusterDNS"]) != "[10.96.0.10]" {
		t.Errorf("%v, %+v", found, own.Node.Kubelet.Config)
	}
}

// Which plug-in the node installs (Karpenter for Azure: NETWORK_PLUGIN).
func TestPlugin(t *testing.T) {
	for _, c := range []struct{ plugin, mode, dataplane, want string }{
		{"azure", overlay, cilium, none}, {"azure", overlay, "azure", none}, {"azure", none, cilium, none},
		{"azure", none, "azure", "azure"}, {"azure", none, none, "azure"}, {"none", none, none, none}, {"kubenet", none, none, "azure"},
	} {
		if got := nodePlugin(&launch.Network{Plugin: c.plugin, Mode: c.mode, Dataplane: c.dataplane}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A network without an overlay takes an address for each pod, and an interface has so many.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		most  int
		mode  string
		want  string
		fatal bool
	}{
		{256, none, "", false}, {30, none, "", false}, {29, none, "$.machine.maxPods", true}, {0, none, "$.machine.type.addresses", false}, {29, overlay, "", false}, {0, overlay, "", false},
	} {
		d := new(launch.Document)
		d.Machine.Type.Addresses, d.Machine.Type.AcceleratedNetworking = c.most, yes
		d.Machine.Network = launch.Network{Plugin: "azure", Mode: c.mode}
		d.Node.Kubelet.Config = map[string]any{"maxPods": json.Number("30")}
		got := networkRule.run(d)
		if (c.want == "") != (len(got) == 0) || c.want != "" && (got[0].Path != c.want || got[0].Fatal != c.fatal) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Which sizes a launch takes, by image family and by whether AKS's driver is wanted (Karpenter for Azure:
// pkg/utils/supported-gpus.yaml).
func TestGPU(t *testing.T) {
	for _, c := range []struct {
		size, family, mode string
		want               string // the driver, or the path of the problem
		maker              string
	}{
		{"Standard_NV4ads_V710_v5", ubuntu2404, "Driver", "$.machine.gpuDriver", "amd"},
		{"Standard_NV4ads_V710_v5", ubuntu2404, noDriver, "", "amd"},
		{"Standard_NV28adms_V710_v5", linux3, noDriver, "$.machine.image.wanted", "amd"},
		{"Standard_NV8as_v4", ubuntu2204, "Driver", "$.machine.gpuDriver", "amd"},
		{"Standard_ND96isr_MI300X_v5", ubuntu2204, "Driver", "$.machine.gpuDriver", "amd"},
		{"Standard_NG8ads_V620_v1", ubuntu2204, "Driver", "$.machine.gpuDriver", "amd"},
		{"Standard_NC6", ubuntu2404, "Driver", "cuda 470.82.01-20260629214430", "nvidia"},
		{"Standard_NC24r_Promo", ubuntu2404, "Driver", "cuda 470.82.01-20260629214430", "nvidia"},
		{"Standard_NC6", linux3, "Driver", "$.machine.image.wanted", "nvidia"},
		{"Standard_NC6", linux3, noDriver, "$.machine.image.wanted", "nvidia"},
		{"Standard_NV48s_v3", linux3, "Driver", "$.machine.image.wanted", "nvidia"},
		{"Standard_NC6s_v2", linux2, "Driver", "$.machine.image.wanted", "nvidia"},
		{"Standard_NC6s_v2_Promo", ubuntu2204, "Driver", "cuda-lts 580.159.04-20260629214430", "nvidia"},
		{"Standard_NC6s_v3", linux2, "Driver", "cuda-lts 580.159.04-20260629214430", "nvidia"},
		{"Standard_NC4as_T4_v3", linux3, "Driver", "cuda-lts 580.159.04-20260629214430", "nvidia"},
		{"Standard_NC24ads_A100_v4", linux2, "Driver", "$.machine.image.wanted", "nvidia"},
		{"Standard_NC24ads_A100_v4", linux3, "Driver", "cuda-lts 580.159.04-20260629214430", "nvidia"},
		{"Standard_NV36ads_A10_v5", linux3, "Driver", "grid 570.211.01-20260522192315", "nvidia"},
		{"STANDARD_NC144LDS_XL_RTXPRO6000BSE_V6", ubuntu2404, "Driver", "grid-v20 595.58.03-20260609172331", "nvidia"},
		{"Standard_NC144lds_xl_RTXPRO6000BSE_v6", linux3, "Driver", "$.machine.image.wanted", "nvidia"},
		{"Standard_ND128isr_GB300_v6", ubuntu2404, "Driver", "cuda-lts 580.159.04-20260629214430", "nvidia"},
		{"Standard_NC9999ads_X9_v9", ubuntu2404, "Driver", "$.machine.gpuDriver", ""},
		{"Standard_NC9999ads_X9_v9", ubuntu2404, noDriver, "", ""},
		{"Standard_NC9999ads_X9_v9", custom, "Driver", "$.machine.gpuDriver", ""},
		{"Standard_NC6", custom, noDriver, "", "nvidia"},
	} {
		read, err := ReadInstanceType([]byte(`[{"name":"`+c.size+`","capabilities":[{"name":"GPUs","value":"1"}]}]`), c.size, "")
		if err != nil {
			t.Fatal(err)
		}
		d := &launch.Document{Machine: launch.Machine{Type: *read, GPUDriver: c.mode, Image: launch.Image{Wanted: c.family, Family: c.family}}}
		found := gpuRule.run(d)
		got := d.Machine.GPUDriverVersion
		if len(found) > 0 {
			got = found[0].Path
		}
		if got != c.want || read.GPUManufacturer != c.maker || (got == "" || len(found) > 0) != (d.Node.System.GPU == nil) {
			t.Errorf("%+v: %q of %q, %v", c, got, read.GPUManufacturer, found)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"202411.12.0", "2022.12.15", 1}, {"2022.12.15", "2022.10.03", 1}, {"2022.10.03", "2022.10.3", 0},
		{"1.2", "1.2.0", -1}, {"1.2.x", "1.2", -1}, {"x", "y", 0}, {"+1", "1", -1}, {"", "0", -1},
		{"99999999999999999999.0", "1", 1}, {"1.010", "1.9", 1},
	} {
		if got, back := CompareVersions(c.a, c.b), CompareVersions(c.b, c.a); got != c.want || back != -c.want {
			t.Errorf("%q and %q: %d, %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// region is a region with every definition in three versions.
func region(pin Pin) *Images {
	list := &Images{Pin: pin}
	for _, d := range definitions {
		for n := range 3 {
			list.Images = append(list.Images, ImageVersion{
				ID: fmt.Sprintf("/CommunityGalleries/G/images/%s/versions/20260%d.01.0", d.name, n+1), Published: fmt.Sprintf("2026-0%d-02T00:00:00Z", n+1), Digest: fmt.Sprint("sha256:", n+1),
			})
		}
	}
	return list
}

// Each kind of node has its definition (Karpenter for Azure: imagefamily, DefaultImages), and a pin its version.
func TestChoose(t *testing.T) {
	both, second, arm := []string{"1", "2"}, []string{"2"}, launch.InstanceType{Architecture: "arm64", Generations: []string{"2"}}
	amd := func(generations []string) launch.InstanceType {
		return launch.InstanceType{Architecture: "amd64", Generations: generations}
	}
	for _, c := range []struct {
		family        string
		fips, trusted bool
		machine       launch.InstanceType
		pin           Pin
		want          string
	}{
		{ubuntu2204, false, false, amd(both), Pin{}, "2204gen2containerd 202603.01.0"},
		{ubuntu2204, false, false, amd([]string{"1"}), Pin{}, "2204containerd 202603.01.0"},
		{ubuntu2204, false, false, arm, Pin{}, "2204gen2arm64containerd 202603.01.0"},
		{ubuntu2204, false, true, amd(second), Pin{}, "2204gen2TLcontainerd 202603.01.0"},
		{ubuntu2204, true, true, amd(second), Pin{}, "2204gen2fipsTLcontainerd 202603.01.0"},
		{ubuntu2204, true, false, amd(second), Pin{}, ""},
		{ubuntu2404, false, true, amd(second), Pin{}, "2404gen2TLcontainerd 202603.01.0"},
		{ubuntu2404, true, false, amd(second), Pin{}, ""},
		{ubuntu2004, true, false, amd([]string{"1"}), Pin{}, "2004fipscontainerd 202603.01.0"},
		{linux2, true, false, amd(both), Pin{}, "V2gen2fips 202603.01.0"},
		{linux3, true, false, arm, Pin{}, "V3gen2arm64fips 202603.01.0"},
		{linux3, true, true, amd(both), Pin{}, ""},
		{linux3, false, true, arm, Pin{}, ""},
		{linux3, false, false, amd(both), Pin{Version: "202602.01.0"}, "V3gen2 202602.01.0"},
		{linux3, false, false, amd(both), Pin{NotAfter: "2026-02-02T00:00:00Z"}, "V3gen2 202602.01.0"},
		{linux3, false, false, amd(both), Pin{Digest: "sha256:1"}, "V3gen2 202601.01.0"},
		{linux3, false, false, amd(both), Pin{Allowed: []string{"202601.01.0", "202602.01.0"}}, "V3gen2 202602.01.0"},
		{linux3, false, false, amd(both), Pin{Version: "202602.01.0", Digest: "sha256:1"}, ""},
		{linux3, false, false, amd(both), Pin{NotAfter: "2025-01-01T00:00:00Z"}, ""},
		{"", false, false, amd(both), Pin{}, ""},
	} {
		m := &launch.Machine{Type: c.machine, Image: launch.Image{Family: c.family, FIPS: &c.fips}, Security: launch.Security{VTPM: &c.trusted}}
		list := region(c.pin)
		chosen, against, err := list.Choose(m, nil)
		if got := strings.TrimSpace(chosen.Definition + " " + chosen.Version); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if err == nil && len(against) != len(list.Images)-1 {
			t.Errorf("%+v: %d reasons for %d images", c, len(against), len(list.Images))
		}
		slices.Reverse(list.Images)
		if again, _, _ := list.Choose(m, nil); again.ID != chosen.ID {
			t.Errorf("%+v: %s, and in another order %s", c, chosen.ID, again.ID)
		}
		if i := slices.IndexFunc(definitions, func(d definition) bool { return d.name == chosen.Definition }); i >= 0 && definitions[i].distribution != chosen.Distribution {
			t.Errorf("%+v: the distribution is %s", c, chosen.Distribution)
		}
	}
}

func TestSubnet(t *testing.T) {
	const good = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
	if s, err := ParseSubnet(strings.ReplaceAll(good, "resourceGroups", "RESOURCEGROUPS")); err != nil || s != (Subnet{"s", "g", "v", "n"}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s := (Subnet{"s", "g", "v", "n"}); !s.same(Subnet{"S", "G", "V", "N"}) || s.same(Subnet{"s", "g", "v", "m"}) || s.same(Subnet{"s", "g", "w", "n"}) {
		t.Error("subnets are compared with case, or not at all")
	}
	for _, id := range []string{"", "/", good + "/", good[1:], strings.Replace(good, "/g/", "//", 1), strings.Replace(good, "/g/", "/g./", 1), strings.Replace(good, "/n", "/n\n", 1),
		strings.Replace(good, "/g/", "/"+strings.Repeat("g", 91)+"/", 1), strings.Replace(good, "subnets", "subnet", 1), strings.Replace(good, "/v/", "/$(v)/", 1)} {
		if _, err := ParseSubnet(id); err == nil {
			t.Errorf("%q is taken", id)
		}
	}
}

// Azure compares names without case, so the network that AKS has made is known by any spelling (Karpenter for Azure:
// utils.IsAKSManagedVNET).
func TestManagedNetwork(t *testing.T) {
	for _, c := range []struct {
		group, vnet, subnet string
		want                bool
	}{
		{"MC_rg", "aks-vnet-18484614", "aks-subnet", true}, {"mc_RG", "AKS-VNET-18484614", "AKS-Subnet", true}, {"MC_rg", "my-vnet", "aks-subnet", false},
		{"MC_rg", "aks-vnet-18484614", "my-subnet", false}, {"other", "aks-vnet-18484614", "aks-subnet", false}, {"MC_rg", "aks-vnet-1848461", "aks-subnet", false},
		{"MC_rg", "aks-vnet-1848461x", "aks-subnet", false}, {"MC_rg", "aks-vnet-18484614-2", "aks-subnet", false},
	} {
		if got := managedNetwork(Subnet{"s", c.group, c.vnet, c.subnet}, "MC_rg"); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// AKS takes no small machines as nodes, and has the DNS cache on larger ones alone; a cluster of one's own decides for itself.
func TestSmallestSizes(t *testing.T) {
	const gib = int64(1) << 30
	for _, c := range []struct {
		name         string
		vcpus        int
		memory       int64
		isOwn        bool
		taken, cache bool
	}{
		{"Standard_B1s", 1, gib, false, false, false}, {"Standard_A1_v2", 1, 2 * gib, false, false, false}, {"Standard_B2s", 2, 4 * gib, false, true, false},
		{"Standard_D2_v2", 2, 7 * gib, false, true, false}, {"Standard_F2", 2, 7 * gib / 2, false, true, false}, {"Standard_F2", 2, 7*gib/2 - 1, false, false, false},
		{"Basic_A3", 4, 7 * gib, false, false, true}, {"Standard_D4s_v5", 4, 16 * gib, false, true, true}, {"Standard_B1s", 1, gib, true, true, true}, {"unknown", 0, 0, false, true, true},
	} {
		d := &launch.Document{Machine: launch.Machine{Type: launch.InstanceType{Name: c.name, VCPUs: c.vcpus, MemoryBytes: c.memory}}}
		if c.isOwn {
			d.Machine.Image.Wanted = custom
		}
		if found := sizeRule.run(d); (len(found) == 0) != c.taken {
			t.Errorf("%+v: %v", c, found)
		}
		d.Node.Network.LocalDNS = new(nodeconfig.LocalDNS)
		if found := sizeRule.run(d); slices.ContainsFunc(found, func(p nodeconfig.Problem) bool { return p.Path == "$.node.network.localDNS" && p.Fatal }) == c.cache {
			t.Errorf("%+v: %v", c, found)
		}
	}
}

// Each disk of the host is tried in turn, NVMe first, in GiB, with the GiB that a trusted launch keeps for the guest's state
// (Azure: ephemeral OS disks).
func TestDisk(t *testing.T) {
	const gib = int64(1) << 30
	both := []string{"ResourceDisk", "CacheDisk"}
	for _, c := range []struct {
		of      launch.InstanceType
		size    int32
		trusted bool
		want    string
		label   string
	}{
		{launch.InstanceType{EphemeralDisk: yes, NVMeDiskBytes: 1000 * gib, Placements: []string{"NvmeDisk"}}, 128, false, "NvmeDisk", "1073"},
		{launch.InstanceType{EphemeralDisk: yes, NVMeDiskBytes: 1000 * gib, CacheDiskBytes: 200 * gib}, 128, false, "CacheDisk", "214"},
		{launch.InstanceType{EphemeralDisk: yes, NVMeDiskBytes: 1000 * gib, CacheDiskBytes: 200 * gib, Placements: both}, 128, false, "CacheDisk", "214"},
		{launch.InstanceType{EphemeralDisk: yes, NVMeDiskBytes: 110 * gib, CacheDiskBytes: 200 * gib, Placements: []string{"NvmeDisk", "CacheDisk"}}, 128, false, "CacheDisk", "214"},
		{launch.InstanceType{EphemeralDisk: yes, NVMeDiskBytes: 110 * gib, CacheDiskBytes: 120 * gib, ResourceDiskBytes: 130 * gib, Placements: []string{"NvmeDisk", "CacheDisk", "ResourceDisk"}}, 128, false, "ResourceDisk", "139"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 30 * gib, ResourceDiskBytes: 160 * gib, Placements: both}, 128, false, "ResourceDisk", "171"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 200 * gib, ResourceDiskBytes: 160 * gib, Placements: []string{"ResourceDisk"}}, 128, false, "ResourceDisk", "171"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 200 * gib, Placements: []string{"ResourceDisk"}}, 128, false, "", ""},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 100 * gib}, 100, false, "CacheDisk", "107"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 100 * gib}, 105, false, "", "107"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 100 * gib, ResourceDiskBytes: 150 * gib}, 100, true, "ResourceDisk", "161"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 100 * gib, ResourceDiskBytes: 150 * gib}, 99, true, "CacheDisk", "161"},
		{launch.InstanceType{EphemeralDisk: yes, CacheDiskBytes: 100 * gib, ResourceDiskBytes: 150 * gib}, 150, true, "", "161"},
		{launch.InstanceType{EphemeralDisk: yes, ResourceDiskBytes: 128*gib - 1}, 128, false, "", "137"},
		{launch.InstanceType{EphemeralDisk: yes, ResourceDiskBytes: 3000 * gib}, 2040, true, "ResourceDisk", "2190"},
		{launch.InstanceType{EphemeralDisk: yes, ResourceDiskBytes: 3000 * gib}, 2041, false, "", "2190"},
		{launch.InstanceType{EphemeralDisk: yes}, 30, false, "", ""},
		{launch.InstanceType{EphemeralDisk: no, ResourceDiskBytes: 1000 * gib}, 128, false, "", ""},
		{launch.InstanceType{ResourceDiskBytes: 1000 * gib}, 128, false, "problem", ""},
	} {
		d := &launch.Document{Machine: launch.Machine{Type: c.of, Disk: launch.Disk{SizeGB: c.size}, Security: launch.Security{SecureBoot: &c.trusted}}}
		found := diskRule.run(d)
		got := d.Machine.Disk.Placement
		if len(found) > 0 {
			got = "problem"
		}
		if got != c.want || *d.Machine.Disk.Ephemeral != (d.Machine.Disk.Placement != "") {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
		if row := slices.IndexFunc(labelRows, func(r labelRow) bool { return strings.HasSuffix(r.key, "ephemeralos-maxsize") }); labelRows[row].value(d) != c.label {
			t.Errorf("%+v: label %q, want %q", c, labelRows[row].value(d), c.label)
		}
	}
}

// TestPoolHasNoRivals: if a pool may set a field, neither the class nor the detected facts may. So a pool's layer goes over all others.
func TestPoolHasNoRivals(t *testing.T) {
	for path, sources := range fields {
		if slices.Contains(sources, launch.Pool) && (slices.Contains(sources, launch.Class) || slices.Contains(sources, launch.Detected)) {
			t.Errorf("%s: %v", path, sources)
		}
	}
}

// TestScriptRows counts the fields of the scripts by their sources, as they were counted in Karpenter for Azure.
func TestScriptRows(t *testing.T) {
	count := make(map[launch.Source]int)
	variables := make(map[string]bool)
	for _, r := range scriptRows {
		count[r.source]++
		if variables[r.variable] && r.variable != "" {
			t.Errorf("%s is there twice", r.variable)
		}
		variables[r.variable] = true
	}
	want := map[launch.Source]int{launch.Hardcoded: 99, launch.Environment: 3, launch.Global: 4, launch.Detected: 3, launch.Computed: 18}
	if len(scriptRows) != 127 || !reflect.DeepEqual(count, want) {
		t.Errorf("%d fields, %v", len(scriptRows), count)
	}
}
