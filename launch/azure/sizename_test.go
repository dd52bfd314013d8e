package azure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
)

// The parts are Karpenter for Azure's labels sku-family, sku-series, sku-version and sku-gpu-name.
func TestSizeName(t *testing.T) {
	for size, want := range map[string]string{
		"Standard_D2s_v3":                     "D Ds_v3 3 ",
		"Standard_D4ds_v5":                    "D Dds_v5 5 ",
		"Standard_D2":                         "D D  ",
		"Standard_E32-8ds_v5":                 "E Eds_v5 5 ",
		"Standard_DC16as_cc_v5":               "D DCas_v5 5 ",
		"Standard_M96s_1_v3":                  "M Ms_v3 3 ",
		"Standard_M416s_8_v2":                 "M Ms_v2 2 ",
		"Standard_NC24ads_A100_v4":            "N NCads_v4 4 A100",
		"Standard_NC4as_T4_v3":                "N NCas_v3 3 T4",
		"Standard_NC6s_v3":                    "N NCs_v3 3 V100",
		"Standard_NC6_Promo":                  "N NC  ",
		"Standard_ND96asr_v4":                 "N NDasr_v4 4 A100",
		"Standard_ND96isr_MI300X_v5":          "N NDisr_v5 5 MI300X",
		"Standard_NV4ads_V710_v5":             "N NVads_v5 5 V710",
		"Standard_NV12s_v3":                   "N NVs_v3 3 M60",
		"Standard_NC24ds_xl_RTXPRO6000BSE_v6": "N NCds_v6 6 RTXPRO6000BSE",
		"Standard_":                           "",
		"Standard_v5":                         "",
		"Standard_Ds_v5":                      "",
		"Standard_D4+s_v5":                    "",
		"D4s_v5":                              "",
		"":                                    "",
	} {
		got := ""
		if n, ok := sizeNameOf(size); ok {
			got = strings.Join([]string{n.family, n.series(), n.version, n.gpu()}, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", size, got, want)
		}
	}
}

// FuzzSizeName: each part of a name occurs in the name, and is a valid value of a Kubernetes label.
func FuzzSizeName(f *testing.F) {
	for _, size := range []string{"Standard_D4ds_v5", "Standard_E32-8ds_v5", "Standard_NC24ds_xl_RTXPRO6000BSE_v6", "Standard_NC6_Promo", "Standard__", "Standard_D-1_é1"} {
		f.Add(size)
	}
	f.Fuzz(func(t *testing.T, size string) {
		n, ok := sizeNameOf(size)
		if !ok {
			if n != (sizeName{}) {
				t.Errorf("%q: %+v of a name that is not taken", size, n)
			}
			return
		}
		for _, part := range []string{n.family + n.subfamily, n.features, n.version, n.accelerator} {
			if !strings.Contains(size, part) {
				t.Errorf("%q: %q is no part of it", size, part)
			}
		}
		const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		if n.family == "" || strings.Trim(n.series(), plain+"_") != "" || strings.Trim(n.accelerator, plain) != "" {
			t.Errorf("%q: %+v", size, n)
		}
	})
}

// If a type's zones are unknown, the zone must be in the region.
func TestZone(t *testing.T) {
	for _, c := range []struct {
		zone, location string
		known          []string
		wrong          bool
	}{
		{"eastus-1", "eastus", nil, false},
		{"eastus-1", "EastUS", nil, false},
		{"westus-1", "eastus", nil, true},
		{"eastus2-1", "eastus", nil, true},
		{"1", "eastus", nil, true},
		{"", "eastus", nil, false},
		{"westus-1", "", nil, false},
		{"westus-1", "eastus", []string{"eastus-1"}, false}, // the request's own check says so
	} {
		d := &launch.Document{Machine: launch.Machine{Zone: c.zone, Type: launch.InstanceType{Zones: c.known}}}
		azureOf(d).Location = c.location
		if found := zoneRule.run(d); (len(found) == 1 && found[0].Fatal) != c.wrong {
			t.Errorf("%+v: %s", c, fmt.Sprint(found))
		}
	}
}

// A size is of a known series by its letters and by what follows its processors; a new version of a series is another one.
func TestKnownSeries(t *testing.T) {
	for size, want := range map[string]bool{
		"Standard_D4s_v5": true, "Standard_D4ds_v5": true, "Standard_E32-8ds_v5": true, "Standard_NC24ads_A100_v4": true, "Standard_D2_v2_Promo": true, "Standard_F2": true,
		"Standard_D4s_v99": false, "Standard_Q4": false, "Standard_D": false, "D4s_v5": false, "": false, "Standard_D4-": false, "Standard_NC24ads_X1_v4": false,
	} {
		if got := new(Input).KnownSeries(size); got != want {
			t.Errorf("%q: %t", size, got)
		}
	}
	for _, known := range InstanceTypes() {
		if !new(Input).KnownSeries(known.Name) {
			t.Errorf("%s is built in and of no known series", known.Name)
		}
	}
}
