package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The node of a cluster without a way out: by layout and registry, where images of which registry come from, and what is waited for.
func TestIsolated(t *testing.T) {
	for name, c := range map[string]struct {
		layout, registry string
		own              bool
		host, url, check string
		markers          int
	}{
		"AKS":                      {nodeconfig.LayoutAKS, "r.azurecr.io/a/b", false, "mcr.microsoft.com", "https://r.azurecr.io/v2/a/b", "r.azurecr.io:443", 2},
		"without a path":           {nodeconfig.LayoutAKS, "r.azurecr.io", false, "mcr.microsoft.com", "https://r.azurecr.io/v2", "r.azurecr.io:443", 2},
		"Kubernetes' own":          {nodeconfig.LayoutStandard, "r.example:5000/k8s", false, "registry.k8s.io", "https://r.example:5000/v2/k8s", "r.example:5000", 0},
		"an address":               {nodeconfig.LayoutStandard, "[fd00::1]:5000", false, "registry.k8s.io", "https://[fd00::1]:5000/v2", "[fd00::1]:5000", 0},
		"an address without port":  {nodeconfig.LayoutStandard, "10.0.0.5/k8s", false, "registry.k8s.io", "https://10.0.0.5/v2/k8s", "10.0.0.5:443", 0},
		"the author's own":         {nodeconfig.LayoutStandard, "r.example", true, "registry.k8s.io", "https://other.example", "", 0},
		"a cluster with a way out": {nodeconfig.LayoutAKS, "", false, "", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, problems := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) {
				config.Components.Layout, config.Components.Registry = c.layout, c.registry
				if c.own {
					config.Runtime.Registries = map[string]nodeconfig.Registry{c.host: {Mirrors: []nodeconfig.RegistryHost{{URL: c.url}}}}
				}
			}), ubuntu(t))
			if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
				t.Fatal(fatal)
			}
			markers, check, pulls := 0, "", 0
			var pulled resource.ID
			for _, r := range p.Resources {
				switch spec := r.Spec.(type) {
				case *resource.File:
					if strings.HasSuffix(spec.Path, "/outbound-check-skipped") {
						markers++
					}
				case *resource.Check:
					if spec.Label == "registry" {
						check = spec.Reachable.Server
					}
				case *resource.Image:
					pulls++
					pulled = r.ID()
					waits := slices.Contains(r.Requires, resource.IDOf(&resource.Check{Label: "registry"}))
					if waits != (c.check != "") || !slices.Contains(r.Requires, resource.IDOf(&resource.Unit{Unit: concern.ContainerdUnit})) {
						t.Errorf("the pull of %s requires %q", spec.Image, r.Requires)
					}
				}
			}
			if markers != c.markers || check != c.check || pulls != min(len(c.registry), 1) {
				t.Errorf("%d markers, %q is waited for, %d pulls", markers, check, pulls)
			}
			if c.registry == "" {
				return
			}
			if hosts := string(fileAt(t, p, concern.RegistriesDir+"/"+c.host+"/hosts.toml").Content); !strings.HasPrefix(hosts, `[host."`+c.url+`"]`) {
				t.Errorf("images come from\n%s", hosts)
			}
			kubelet := slices.IndexFunc(p.Resources, func(r resource.Resource) bool {
				return r.ID() == resource.IDOf(&resource.Unit{Unit: concern.KubeletUnit})
			})
			if kubelet < 0 || !slices.Contains(p.Resources[kubelet].Requires, pulled) {
				t.Error("the kubelet starts before its sandbox image is there")
			}
		})
	}
}

// A layout whose nodes have images from several registries has none that one could stand for; it is an error, unless it is allowed.
func TestIsolatedElsewhere(t *testing.T) {
	_, problems := New(contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Components.Layout, c.Components.Registry = nodeconfig.LayoutEksctl, "r.example"
	}), ubuntu(t))
	for _, p := range problems {
		if p.Path == setting.ComponentsRegistry && p.Fatal && p.Kind == nodeconfig.NotApplied && strings.Contains(p.Reason, "runtime.registries") {
			return
		}
	}
	t.Error(problems)
}

// What a kubelet of a version does not start with of a provider's tokens is an error.
func TestTokenAttributes(t *testing.T) {
	whole := map[string]any{"serviceAccountTokenAudience": "a", "requireServiceAccount": false, "cacheType": "Token"}
	without := func(name string) map[string]any {
		left := map[string]any{}
		for field, value := range whole {
			if field != name {
				left[field] = value
			}
		}
		return left
	}
	for name, c := range map[string]struct {
		version    string
		attributes any
		want       string
	}{
		"all of it":                     {"1.34.2", whole, ""},
		"a later version":               {"1.37.0", whole, ""},
		"none":                          {"1.30.1", nil, ""},
		"no map":                        {"1.34.2", "a", ": want a map"},
		"before there was any":          {"1.32.9", without("cacheType"), ": Kubernetes 1.33 added this field"},
		"behind its gate":               {"1.33.4", without("cacheType"), ": takes the feature gate KubeletServiceAccountTokenForCredentialProviders"},
		"before there was all":          {"1.33.4", whole, ".cacheType: Kubernetes 1.34 added this field"},
		"without a kind of cache":       {"1.34.2", without("cacheType"), ".cacheType: want one of ServiceAccount, Token"},
		"without an audience":           {"1.34.2", without("serviceAccountTokenAudience"), ".serviceAccountTokenAudience: is missing"},
		"without saying whether needed": {"1.34.2", without("requireServiceAccount"), ".requireServiceAccount: is missing"},
	} {
		known := ubuntu(t)
		known.Components = nil
		provider := map[string]any{
			"name": "p", "apiVersion": "credentialprovider.kubelet.k8s.io/v1", "matchImages": []any{"*.example"}, "defaultCacheDuration": "10m",
		}
		if c.attributes != nil {
			provider["tokenAttributes"] = c.attributes
		}
		_, problems := New(contract(t, "native/minimal.yaml", func(config *nodeconfig.NodeConfig) {
			config.Cluster.KubernetesVersion = c.version
			if name == "before there was all" {
				config.Kubelet.Config = map[string]any{"featureGates": map[string]any{"KubeletServiceAccountTokenForCredentialProviders": true}}
			}
			config.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{
				BinDir: "/opt/bin", Config: map[string]any{"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers": []any{provider}},
			}
		}), known)
		var got []string
		for _, p := range problems {
			if strings.HasPrefix(p.Path, setting.ImageCredentialProvider+".config") {
				got = append(got, p.Path+": "+p.Reason)
			}
		}
		switch {
		case c.want == "" && len(got) > 0, c.want != "" && len(got) != 1:
			t.Errorf("%s: %q", name, got)
		case c.want != "" && !strings.HasPrefix(got[0], setting.ImageCredentialProvider+".config.providers[0].tokenAttributes"+c.want):
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
