package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// logind lets the kubelet delay a shutdown for at least as long as the kubelet requests, on any distribution and in any
// family, before the kubelet starts. The kubelet raises a lower delay itself, and fails if another drop-in overrides its own.
func TestLogindWaitsForKubeletsShutdown(t *testing.T) {
	const dropIn, upgradesDropIn = "/etc/systemd/logind.conf.d/98-slipway-shutdown.conf", "/etc/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf"
	if kubelets := "/etc/systemd/logind.conf.d/99-kubelet.conf"; dropIn >= kubelets {
		t.Errorf("%s does not leave the last word to %s", dropIn, kubelets)
	}
	priorities := func(seconds ...any) map[string]any {
		var list []any
		for _, s := range seconds {
			list = append(list, map[string]any{"priority": json.Number("0"), "shutdownGracePeriodSeconds": s})
		}
		return map[string]any{"shutdownGracePeriodByPodPriority": list}
	}
	plain := func(period any) map[string]any { return map[string]any{"shutdownGracePeriod": period} }
	for name, c := range map[string]struct {
		os     string
		config map[string]any
		want   string
		masks  bool
	}{
		"none":                          {"ubuntu", nil, "", false},
		"zero":                          {"ubuntu", plain("0s"), "", false},
		"what logind allows by itself":  {"debian", plain("5s"), "", false},
		"what unattended-upgrades asks": {"ubuntu", plain("30s"), "30", false},
		"longer than that":              {"ubuntu", plain("45s"), "45", true},
		"longer on Debian":              {"debian", plain("1m0s"), "60", true},
		"longer on Azure Linux":         {"azurelinux", plain("2m"), "120", false},
		"a part of a second":            {"azurelinux", plain("10.2s"), "11", false},
		"by the priority of pods":       {"ubuntu", priorities(json.Number("10"), json.Number("20"), json.Number("3")), "33", true},
		"by the priority, as Go has it": {"azurelinux", priorities(10, int64(20), 3.0), "33", false},
		"more than there are seconds":   {"azurelinux", priorities(json.Number("9223372036854775807"), json.Number("9223372036854775807")), "", false},
		"negative":                      {"ubuntu", plain("-10s"), "", false},
		"no duration":                   {"ubuntu", plain("soon"), "", false},
		"no list":                       {"ubuntu", map[string]any{"shutdownGracePeriodByPodPriority": "x"}, "", false},
		"a list of something else":      {"ubuntu", map[string]any{"shutdownGracePeriodByPodPriority": []any{"x", nil, map[string]any{}}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, layout := range []string{"standard", "aks", "eksctl"} {
				if layout == "eksctl" && c.config == nil {
					continue // it has a default (TestShutdownOfANodeOfEKS)
				}
				config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
					n.Components.Layout, n.Kubelet.Config = layout, c.config
				})
				p, _ := New(config, facts.Facts{OS: facts.OS{ID: c.os}, NodeIPs: []string{"10.0.0.5"}})
				r := resourceAt(p, resource.ID("File:"+dropIn))
				if c.want == "" {
					if r.Spec != nil {
						t.Errorf("%s: %s", layout, r.Spec.(*resource.File).Content)
					}
					continue
				}
				if r.Spec == nil || !strings.HasSuffix(string(r.Spec.(*resource.File).Content), "[Login]\nInhibitDelayMaxSec="+c.want+"\n") {
					t.Fatalf("%s: %+v, want %s", layout, r, c.want)
				}
				mask := resourceAt(p, resource.ID("Symlink:"+upgradesDropIn))
				if (mask.Spec != nil) != c.masks {
					t.Errorf("%s: masked: %+v", layout, mask)
				}
				for _, r := range []resource.Resource{r, mask} {
					if r.Spec != nil && !slices.Equal(r.Reloads, []string{"systemd-logind.service"}) {
						t.Errorf("%s: %s takes %+v", layout, r.ID(), r.Effects)
					}
				}
				if start := resourceAt(p, "Unit:kubelet.service"); !slices.Contains(start.After, "Unit:systemd-logind.service") {
					t.Errorf("%s: the kubelet starts after %q alone", layout, start.After)
				}
			}
		})
	}
}

// upgradesDropIn is that of unattended-upgrades.
const upgradesDropIn = "/etc/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf"

// If a contract brings the drop-in of unattended-upgrades itself, as guides recommend, it stays.
func TestLogindDropInOfContractStays(t *testing.T) {
	config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Kubelet.Config = map[string]any{"shutdownGracePeriod": "3m"}
		n.Files = []nodeconfig.File{{Path: upgradesDropIn, Content: "[Login]\nInhibitDelayMaxSec=180\n"}}
	})
	p, problems := New(config, facts.Facts{OS: facts.OS{ID: "ubuntu"}})
	if f := fileIn(p, upgradesDropIn); f == nil || len(nodeconfig.Fatal(problems)) > 0 || resourceAt(p, resource.ID("Symlink:"+upgradesDropIn)).Spec != nil {
		t.Errorf("%v, %v", f, problems)
	}
}

// ownLogindDropIn brings a drop-in that would be masked otherwise.
func ownLogindDropIn(c *nodeconfig.NodeConfig, with bool) {
	if c.Kubelet.Config = map[string]any{"shutdownGracePeriod": "45s"}; with {
		c.Files = []nodeconfig.File{{Path: upgradesDropIn, Mode: "0644", Content: "[Login]\n"}}
	}
}
