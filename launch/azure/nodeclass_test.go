package azure

import (
	"encoding/json"
	"fmt"
	"slices"
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
	for value, want := range map[string]bool{"1024 65535": true, "1023 65535": false, "1024 65536": false, "60999 32768": false, "1024": false, "1024  40000": false, "1024 40000 ": false, "40000 40000": true} {
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
		"{fipsMode: FIPS}":                      "$.spec.imageFamily",
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
	} {
		_, problems := ReadNodeClass([]byte("apiVersion: " + ClassVersion + "\nkind: " + ClassKind + "\nmetadata: {name: a}\nspec: " + spec))
		if len(problems) > 1 || (want == "") != (len(problems) == 0) || want != "" && problems[0].Path != want {
			t.Errorf("%s: %v, want %q", spec, problems, want)
		}
	}
}
