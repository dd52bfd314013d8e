package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Every rule of a value has a good value, and refuses others.
func TestValues(t *testing.T) {
	for _, s := range sysctls {
		for _, v := range []any{nil, "x", json.Number("-1"), json.Number("99999999999")} {
			if s.check(v) == "" {
				t.Errorf("%s takes %v", s.name, v)
			}
		}
		if s.most > 0 && (s.check(json.Number(fmt.Sprint(s.least))) != "" || s.check(json.Number(fmt.Sprint(s.most))) != "" || s.check(json.Number(fmt.Sprint(s.most+1))) == "") {
			t.Errorf("%s: its bounds do not hold", s.name)
		}
	}
	if len(sysctls) != 28 {
		t.Errorf("%d parameters, and the API has 28", len(sysctls))
	}
	for value, want := range map[string]bool{"1024 65535": true, "1023 65535": false, "1024 65536": false, "60999 32768": false, "1024": false, "1024  40000": false, "1024 40000 ": false, "+1024 40000": false, "01024 40000": true, "40000 40000": true} {
		i := slices.IndexFunc(sysctls, func(s sysctl) bool { return s.name == portRange })
		if (sysctls[i].check(value) == "") != want {
			t.Errorf("ports %q", value)
		}
	}
	for text, want := range map[string]int64{"1Ki": 1024, "1500Mi": 1500 << 20, "2Gi": 2 << 30, "1G": 1e9, "1k": 1e3, "1K": -1, "7Ei": 7 << 60, "8Ei": -1, "1": -1, "Mi": -1, "-1Mi": -1, "+1Mi": -1, "1.5Gi": -1, "1m": -1} {
		got, ok := capacity.Bytes(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

// A class's kubelet is checked as the kubelet checks it, with AKS's own thresholds where the class has none.
func TestClassKubelet(t *testing.T) {
	for _, name := range kubeletFields {
		for _, v := range []any{map[string]any{}, []any{json.Number("1")}, json.Number("1.5")} {
			p := new(problems)
			if p.kubelet(map[string]any{name: v}); len(nodeconfig.Fatal(p.List)) == 0 {
				t.Errorf("%s takes %v", name, v)
			}
		}
	}
	if aks := kubeletConfig(); aks["imageGCHighThresholdPercent"] != json.Number("85") || aks["imageGCLowThresholdPercent"] != json.Number("80") {
		t.Error("AKS's thresholds are not the kubelet's own, which a class is checked with")
	}
	for config, want := range map[string]string{
		`{}`: "", `{"imageGCHighThresholdPercent":95,"imageGCLowThresholdPercent":90}`: "", `{"cpuManagerPolicy":null,"podPidsLimit":-1}`: "",
		`{"imageGCHighThresholdPercent":75}`:      "imageGCHighThresholdPercent",
		`{"imageGCLowThresholdPercent":90}`:       "imageGCLowThresholdPercent",
		`{"containerLogMaxSize":"50Mi"}`:          "",
		`{"containerLogMaxSize":"50K"}`:           "containerLogMaxSize",
		`{"containerLogMaxSize":"50k"}`:           "containerLogMaxSize",
		`{"containerLogMaxSize":"50000Ki"}`:       "",
		`{"containerLogMaxSize":"50"}`:            "containerLogMaxSize",
		`{"containerLogMaxFiles":1}`:              "containerLogMaxFiles",
		`{"cpuCFSQuotaPeriod":"50ms"}`:            "",
		`{"cpuCFSQuotaPeriod":"2s"}`:              "cpuCFSQuotaPeriod",
		`{"cpuManagerPolicy":"dynamic"}`:          "cpuManagerPolicy",
		`{"allowedUnsafeSysctls":["net.core.*"]}`: "",
		`{"allowedUnsafeSysctls":["a b;$(x)\n"]}`: "allowedUnsafeSysctls[0]",
		`{"podPidsLimit":"many"}`:                 "podPidsLimit",
		`{"maxPods":110}`:                         "maxPods",
		`{"imageGCHighThresholdPercents":"75"}`:   "imageGCHighThresholdPercents",
	} {
		tree, err := document.Parse([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		p := new(problems)
		p.kubelet(tree.Any().(map[string]any))
		if len(p.List) > 1 || (want == "") != (len(p.List) == 0) || want != "" && (p.List[0].Path != "$.spec.kubelet."+want || !p.List[0].Fatal) {
			t.Errorf("%s: %v, want %q", config, p.List, want)
		}
	}
}

// The class's rules on FIPS (CRD aksnodeclasses: CEL rules).
func TestClassFIPS(t *testing.T) {
	for spec, want := range map[string]string{
		"{fipsMode: FIPS}": "", // none is Ubuntu
		"{fipsMode: FIPS, security: {trustedLaunch: {vtpm: true}}}": "",
		"{fipsMode: Disabled}":                  "",
		"{fipsMode: FIPS, imageFamily: Ubuntu}": "",
		"{fipsMode: FIPS, imageFamily: Ubuntu, security: {trustedLaunch: {vtpm: true}}}":                     "",
		"{fipsMode: FIPS, imageFamily: Ubuntu2204}":                                                          "$.spec.fipsMode",
		"{fipsMode: FIPS, imageFamily: Ubuntu2204, security: {trustedLaunch: {vtpm: false}}}":                "$.spec.fipsMode",
		"{fipsMode: FIPS, imageFamily: Ubuntu2204, security: {trustedLaunch: {secureBoot: true}}}":           "",
		"{fipsMode: FIPS, imageFamily: Ubuntu2404}":                                                          "$.spec.fipsMode",
		"{fipsMode: FIPS, imageFamily: AzureLinux}":                                                          "",
		"{fipsMode: FIPS, imageFamily: AzureLinux, security: {trustedLaunch: {vtpm: true}}}":                 "$.spec.fipsMode",
		"{fipsMode: Disabled, imageFamily: Ubuntu2404, security: {trustedLaunch: {vtpm: true}}, maxPods: 5}": "$.spec.maxPods",
		"{}": "", "{security: {trustedLaunch: {vtpm: true}}}": "",
		"{imageFamily: Ubuntu}": "", "{fipsMode: Disabled, imageFamily: Ubuntu}": "", "{imageFamily: Ubuntu, security: {trustedLaunch: {vtpm: true}}}": "",
		"{imageFamily: Ubuntu2204}": "", "{fipsMode: Disabled, imageFamily: Ubuntu2204}": "", "{imageFamily: Ubuntu2204, security: {trustedLaunch: {vtpm: true}}}": "",
		"{imageFamily: Ubuntu2404}": "", "{fipsMode: Disabled, imageFamily: Ubuntu2404}": "", "{imageFamily: Ubuntu2404, security: {trustedLaunch: {vtpm: true}}}": "",
		"{fipsMode: FIPS, imageFamily: Ubuntu2404, security: {trustedLaunch: {vtpm: true}}}": "$.spec.fipsMode",
		"{imageFamily: AzureLinux}": "", "{fipsMode: Disabled, imageFamily: AzureLinux}": "", "{imageFamily: AzureLinux, security: {trustedLaunch: {vtpm: true}}}": "",
	} {
		_, problems := ReadNodeClass([]byte("apiVersion: " + ClassVersion + "\nkind: " + ClassKind + "\nmetadata: {name: a}\nspec: " + spec))
		if len(problems) > 1 || (want == "") != (len(problems) == 0) || want != "" && problems[0].Path != want {
			t.Errorf("%s: %v, want %q", spec, problems, want)
		}
	}
}

// class is a class with a specification, and what is wrong with it.
func class(t *testing.T, spec string) (*NodeClass, []nodeconfig.Problem) {
	t.Helper()
	c, problems := ReadNodeClass([]byte("apiVersion: " + ClassVersion + "\nkind: " + ClassKind + "\nmetadata: {name: a}\nspec: " + spec))
	if c == nil {
		t.Fatal(problems)
	}
	return c, problems
}

// What the API server refuses of a class is refused, and what it takes is taken, at the place of the value (CRD aksnodeclasses).
func TestClassAsTheAPIServer(t *testing.T) {
	subnet := func(group string) string {
		return `{vnetSubnetID: "/subscriptions/12345678-1234-1234-1234-123456789012/resourceGroups/` + group + `/providers/Microsoft.Network/virtualNetworks/v/subnets/s"}`
	}
	for spec, want := range map[string]string{
		"{}": "", "{osDiskSizeGB: 30}": "", "{osDiskSizeGB: 29}": "$.spec.osDiskSizeGB", "{osDiskSizeGB: 2049}": "$.spec.osDiskSizeGB",
		"{maxPods: 10}": "", "{maxPods: 251}": "$.spec.maxPods", "{imageFamily: Ubuntu2004}": "$.spec.imageFamily", `{imageFamily: ""}`: "$.spec.imageFamily",
		"{gpu: {}}": "", "{gpu: {mode: Install}}": "$.spec.gpu.mode", "{artifactStreaming: {enabled: true}}": "",
		"{kubelet: {}}": "", "{kubelet: {imageGCHighThresholdPercent: 101}}": "$.spec.kubelet.imageGCHighThresholdPercent",
		subnet("g"): "", subnet("MyGroup"): "", subnet(strings.Repeat("a", 90)): "", subnet(strings.Repeat("a", 91)): "$.spec.vnetSubnetID", subnet("a.b-c.d"): "", subnet("a@b*c&d"): "$.spec.vnetSubnetID",
		strings.Replace(subnet("g"), "/subnets/s", "/subnets/S-1", 1): "", strings.Replace(subnet("g"), "virtualNetworks/v", "virtualNetworks/MyNetwork", 1): "",
		strings.Replace(subnet("g"), "/resourceGroups/g", "/g", 1): "$.spec.vnetSubnetID", strings.Replace(subnet("g"), "Microsoft.Network", "Microsoft.Storage", 1): "$.spec.vnetSubnetID",
		strings.Replace(subnet("g"), "/virtualNetworks/v", "", 1): "$.spec.vnetSubnetID",
		"{osDiskSizeGB: 128}": "", "{osDiskSizeGB: 1024}": "", "{osDiskSizeGB: 2048}": "", "{osDiskSizeGB: 4096}": "$.spec.osDiskSizeGB",
		"{gpu: {mode: Driver}}": "", "{gpu: {mode: None}}": "", "{artifactStreaming: {enabled: false}}": "", "{artifactStreaming: {}}": "",
		"{tags: {" + strings.Repeat("a", 513) + ": b}}": "$.spec.tags." + strings.Repeat("a", 513), `{tags: {"a\\b": c}}`: `$.spec.tags["a\\b"]`,
		subnet("a-b_c"): "", subnet(".a"): "", subnet("a-"): "", subnet("a.(b)"): "", subnet("a."): "$.spec.vnetSubnetID", subnet("a#b"): "$.spec.vnetSubnetID",
		"{linuxOSConfig: {swapFileSize: 1500Mi}, kubelet: {failSwapOn: false}}":        "",
		"{linuxOSConfig: {swapFileSize: 1500Mi}}":                                      "$.spec.linuxOSConfig.swapFileSize",
		"{linuxOSConfig: {swapFileSize: 100K}, kubelet: {failSwapOn: false}}":          "$.spec.linuxOSConfig.swapFileSize",
		"{linuxOSConfig: {swapFileSize: 100k}, kubelet: {failSwapOn: false}}":          "$.spec.linuxOSConfig.swapFileSize",
		"{linuxOSConfig: {sysctls: {vmMaxMapCount: null}}}":                            "",
		"{linuxOSConfig: {sysctls: {vmMaxMapCount: \"65530\"}}}":                       "$.spec.linuxOSConfig.sysctls.vmMaxMapCount",
		"{tags: {" + strings.Repeat("ä", 512) + ": " + strings.Repeat("本", 256) + "}}": "",
		"{tags: {a: " + strings.Repeat("本", 257) + "}}":                                "$.spec.tags.a",
		"{tags: {a: \"\"}}":            "",
		"{tags: {\"a?\": b}}":          `$.spec.tags["a?"]`,
		"{localDNS: {}}":               "$.spec.localDNS.kubeDNSOverrides",
		"{localDNS: {mode: Disabled}}": "$.spec.localDNS.kubeDNSOverrides",
	} {
		_, problems := class(t, spec)
		problems = nodeconfig.Fatal(problems)
		if (want == "") != (len(problems) == 0) || want != "" && problems[0].Path != want {
			t.Errorf("%s: %v, want %q", spec, problems, want)
		}
	}
}

// A class has the same node from a file and from an API server, which writes its defaults into it. These go below the class's user
// data; what is not a default goes before it.
func TestClassDefaults(t *testing.T) {
	const own = `, userData: '{"apiVersion":"slipway.dev/v1","kind":"NodeConfig","kubelet":{"config":{"cpuCFSQuota":false,"containerLogMaxSize":"2Gi"}}}'`
	for spec, want := range map[string]string{
		"{}":              `null`,
		"{kubelet: null}": `null`,
		"{kubelet: {}}":   `{"containerLogMaxSize":"50Mi"}`,
		"{kubelet: {failSwapOn: false, cpuManagerPolicy: null, containerLogMaxSize: 100Mi}}": `{"containerLogMaxSize":"100Mi","failSwapOn":false}`,
		"{kubelet: {cpuCFSQuota: true, containerLogMaxFiles: 5, containerLogMaxSize: 50Mi}}": `{"containerLogMaxFiles":5,"containerLogMaxSize":"50Mi","cpuCFSQuota":true}`,
		"{kubelet: {cpuCFSQuota: true, containerLogMaxSize: 50Mi}" + own + "}":               `{"containerLogMaxSize":"2Gi","cpuCFSQuota":false}`,
		"{kubelet: {}" + own + "}": `{"containerLogMaxSize":"2Gi","cpuCFSQuota":false}`,
		"{kubelet: {cpuCFSQuota: true, containerLogMaxSize: 1Gi}" + own + "}": `{"containerLogMaxSize":"1Gi","cpuCFSQuota":false}`,
	} {
		c, problems := class(t, spec)
		got, err := json.Marshal(c.layer().Document.Node.Kubelet.Config)
		if err != nil || len(problems) > 0 || string(got) != want {
			t.Errorf("%s: %s, %v, %v", spec, got, err, problems)
		}
	}
}

// A zone that cannot be served is an error at its place in the class; the contract of the node never has it.
func TestClassZones(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct {
		field string
		value any
		want  string
	}{
		{"zone", "example.com", ""}, {"zone", "example.com.", ""}, {"zone", "Example-1_a.com", ""}, {"zone", "svc.cluster.local", ".forwardDestination"}, {"zone", long + ".com", ""},
		{"zone", "x {\n}\nevil.example", ".zone"}, {"zone", "a b", ".zone"}, {"zone", "-bad..example", ".zone"}, {"zone", "a-.com", ".zone"}, {"zone", "_tcp.example", ".zone"},
		{"zone", "..", ".zone"}, {"zone", "*.example", ".zone"}, {"zone", "a" + long + ".com", ".zone"}, {"zone", "", ".zone"}, {"zone", "bücher.example", ".zone"},
		{"zone", "a.com\n", ".zone"}, {"zone", ".", ".zone"}, {"zone", "health-check.localdns.local", ".zone"}, {"zone", "Other.example.", ".zone"},
		{"zone", long + "." + long + "." + long + "." + strings.Repeat("b", 63), ".zone"},
		{"cacheDuration", "60s", ""}, {"cacheDuration", "2h15m30s", ""}, {"cacheDuration", "1m1h", ""}, {"cacheDuration", "0s", ".cacheDuration"},
		{"cacheDuration", "1.5h", ".cacheDuration"}, {"cacheDuration", "500ms", ".cacheDuration"}, {"cacheDuration", "0", ".cacheDuration"}, {"cacheDuration", "+1h", ".cacheDuration"},
		{"cacheDuration", "-1h", ".cacheDuration"}, {"cacheDuration", "1d", ".cacheDuration"}, {"cacheDuration", "9999999h", ".cacheDuration"}, {"cacheDuration", "99999999999999999999h", ".cacheDuration"},
		{"serveStaleDuration", "0s", ""}, {"serveStaleDuration", "1h ", ".serveStaleDuration"},
		{"cacheDuration", "1h", ""}, {"cacheDuration", "30m", ""}, {"cacheDuration", "1h30m", ""}, {"serveStaleDuration", "1h", ""}, {"serveStaleDuration", "30m", ""},
		{"serveStaleDuration", "60s", ""}, {"serveStaleDuration", "1h30m", ""}, {"serveStaleDuration", "2h15m30s", ""},
		{"queryLogging", "Error", ""}, {"queryLogging", "Log", ""}, {"queryLogging", "", ".queryLogging"}, {"protocol", "PreferUDP", ""}, {"protocol", "UDP", ".protocol"},
		{"forwardDestination", "VnetDNS", ""}, {"forwardDestination", "Internet", ".forwardDestination"}, {"forwardDestination", "", ".forwardDestination"},
		{"forwardPolicy", "Sequential", ""}, {"forwardPolicy", "RoundRobin", ""}, {"forwardPolicy", "Random", ""}, {"forwardPolicy", "First", ".forwardPolicy"}, {"forwardPolicy", "", ".forwardPolicy"},
		{"serveStale", "Immediate", ""}, {"serveStale", "Disable", ""}, {"serveStale", "Never", ".serveStale"}, {"serveStale", "", ".serveStale"},
		{"maxConcurrent", 0, ""}, {"maxConcurrent", 1, ""}, {"maxConcurrent", 1000, ""}, {"maxConcurrent", -1, ".maxConcurrent"}, {"maxConcurrent", -100, ".maxConcurrent"},
		{"protocol", "ForceTCP", ""}, {"protocol", "", ".protocol"}, {"serveStale", "Verify", ""}, {"queryLogging", "log", ".queryLogging"}, {"forwardDestination", "ClusterCoreDNS", ".forwardDestination"},
	} {
		zone := map[string]any{
			"zone": "example.com", "queryLogging": "Error", "protocol": "PreferUDP", "forwardDestination": "VnetDNS", "forwardPolicy": "Random",
			"maxConcurrent": 100, "cacheDuration": "1h", "serveStaleDuration": "1h", "serveStale": "Immediate",
		}
		with := func(changes ...any) map[string]any {
			changed := maps.Clone(zone)
			for i := 0; i < len(changes); i += 2 {
				changed[changes[i].(string)] = changes[i+1]
			}
			return changed
		}
		core := []any{"forwardDestination", "ClusterCoreDNS"}
		spec, err := json.Marshal(map[string]any{"localDNS": map[string]any{
			"mode":             "Required",
			"vnetDNSOverrides": []any{with("zone", "."), with(append(core, "zone", "cluster.local")...), with("zone", "other.example"), with(c.field, c.value)},
			"kubeDNSOverrides": []any{with("zone", "."), with(append(core, "zone", "cluster.local")...)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, problems := class(t, string(spec))
		want := ""
		if c.want != "" {
			want = "$.spec.localDNS.vnetDNSOverrides[3]" + c.want
		}
		if len(problems) > 1 || (want == "") != (len(problems) == 0) || want != "" && (problems[0].Path != want || !problems[0].Fatal) {
			t.Errorf("%s %v: %v, want %q", c.field, c.value, problems, want)
		}
		layer := got.layer().Document.Node
		if found := nodeconfig.Repair(&nodeconfig.NodeConfig{Network: layer.Network}); slices.ContainsFunc(found, func(p nodeconfig.Problem) bool { return strings.Contains(p.Path, "localDNS") }) {
			t.Errorf("%s %v: the contract has it: %v", c.field, c.value, found)
		}
	}
}

// Which zones the overrides have, each once; the DNS of the cluster serves the cluster's own names, and the network's all others (CRD
// aksnodeclasses: CEL rules).
func TestClassZonesTogether(t *testing.T) {
	zone := func(name, destination, more string) string {
		return "{zone: " + name + ", queryLogging: Error, forwardDestination: " + destination + ", forwardPolicy: Random, maxConcurrent: 100, cacheDuration: 1h, serveStaleDuration: 1h" + more + "}"
	}
	const usual, vnet, core = ", protocol: PreferUDP, serveStale: Immediate", "VnetDNS", "ClusterCoreDNS"
	root, cluster := zone(".", vnet, usual), zone("cluster.local", core, usual)
	for _, c := range []struct{ mode, vnetDNS, kubeDNS, want string }{
		{"Required", root + ", " + cluster, root + ", " + cluster, ""},
		{"Preferred", root + ", " + cluster, root + ", " + cluster, ""},
		{"Disabled", root + ", " + cluster, root + ", " + cluster, ""},
		{"Always", root + ", " + cluster, root + ", " + cluster, ".mode"},
		{`""`, root + ", " + cluster, root + ", " + cluster, ".mode"},
		{"Required", cluster, root + ", " + cluster, ".vnetDNSOverrides"},
		{"Required", root, root + ", " + cluster, ".vnetDNSOverrides"},
		{"Required", root + ", " + cluster, cluster, ".kubeDNSOverrides"},
		{"Required", root + ", " + cluster, root, ".kubeDNSOverrides"},
		{"Required", root + ", " + cluster + ", " + root, root + ", " + cluster, ".vnetDNSOverrides[2].zone"},
		{"Required", root + ", " + cluster, root + ", " + cluster + ", " + cluster, ".kubeDNSOverrides[2].zone"},
		{"Required", zone(".", core, usual) + ", " + cluster, root + ", " + cluster, ".vnetDNSOverrides[0].forwardDestination"},
		{"Required", root + ", " + zone("cluster.local", vnet, usual), root + ", " + cluster, ".vnetDNSOverrides[1].forwardDestination"},
		{"Required", root + ", " + cluster + ", " + zone("svc.cluster.local", vnet, usual), root + ", " + cluster, ".vnetDNSOverrides[2].forwardDestination"},
		{"Required", root + ", " + cluster + ", " + zone("a.example", vnet, ", protocol: ForceTCP, serveStale: Verify"), root + ", " + cluster, ".vnetDNSOverrides[2].serveStale"},
		{"Required", root + ", " + cluster + ", " + zone("a.example", vnet, ", protocol: ForceTCP, serveStale: Immediate"), root + ", " + cluster, ""},
		{"Required", root + ", " + cluster + ", " + zone("a.example", vnet, ", protocol: ForceTCP, serveStale: Disable"), root + ", " + cluster, ""},
		{"Required", root + ", " + cluster + ", " + zone("a.example", vnet, ", protocol: PreferUDP, serveStale: Verify"), root + ", " + cluster, ""},
	} {
		_, problems := class(t, "{localDNS: {mode: "+c.mode+", vnetDNSOverrides: ["+c.vnetDNS+"], kubeDNSOverrides: ["+c.kubeDNS+"]}}")
		want := ""
		if c.want != "" {
			want = "$.spec.localDNS" + c.want
		}
		if problems = nodeconfig.Fatal(problems); len(problems) > 1 || (want == "") != (len(problems) == 0) || want != "" && problems[0].Path != want {
			t.Errorf("%+v: %v", c, problems)
		}
	}
}
