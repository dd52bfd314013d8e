package plan

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// fieldOf is the field of the kubelet's configuration that sets what a flag sets, or "".
func fieldOf(flag string) string {
	if flag == "v" {
		return "logging.verbosity"
	}
	words := strings.Split(flag, "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	if field := strings.Join(words, ""); kubeletapi.DescribeField([]string{field}).Unknown == "" {
		return field
	}
	return ""
}

// A flag takes precedence over the field of the same setting. So either Slipway sets no flag for a contract's field, or there is a
// problem: no field is ignored in silence.
func TestNoFlagOverridesAFieldInSilence(t *testing.T) {
	others := map[string]any{ // valid values that differ from Slipway's; "1h" for all the rest
		"logging.verbosity":  map[string]any{"verbosity": int64(5)},
		"registerWithTaints": []any{map[string]any{"key": "a", "effect": "NoSchedule"}},
	}
	compared := make(map[string]bool)
	for _, example := range []string{"native/minimal.yaml", "aks/kubelet-config-file.json"} {
		edit := func(field string, value any) *nodeconfig.NodeConfig {
			return contract(t, example, func(n *nodeconfig.NodeConfig) {
				n.Kubelet.Taints = []nodeconfig.Taint{{Key: "b", Effect: "NoSchedule"}}
				n.Kubelet.Config = map[string]any{field: value}
				n.Kubelet.Flags = nil
			})
		}
		argv, _, err := kubeletCommand(first(New(edit("maxPods", int64(30)), ubuntu(t))))
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range argv[1:] {
			flag, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			field := fieldOf(flag)
			if field == "" {
				continue
			}
			compared[field] = true
			value, ok := others[field]
			if !ok {
				value = "1h"
			}
			top, _, _ := strings.Cut(field, ".")
			p, problems := New(edit(top, value), ubuntu(t))
			argv, _, err := kubeletCommand(p)
			if err != nil {
				t.Fatal(err)
			}
			stays := slices.ContainsFunc(argv, func(arg string) bool { return strings.HasPrefix(arg, "--"+flag+"=") })
			refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.kubelet.config."+field && p.Fatal })
			if stays != refused {
				t.Errorf("%s: --%s stays: %v; %s is refused: %v", example, flag, stays, field, refused)
			}
		}
	}
	for _, field := range []string{"cgroupDriver", "containerRuntimeEndpoint", "logging.verbosity", "registerWithTaints", "runtimeRequestTimeout", "volumePluginDir"} {
		if !compared[field] {
			t.Errorf("%s is not compared", field)
		}
	}
}

// A field is no conflict if its value is what the node has anyway, or is empty.
func TestFieldsWithoutConflict(t *testing.T) {
	for field, value := range map[string]any{
		"containerRuntimeEndpoint": concern.ContainerdSocket, "registerWithTaints": []any{}, "volumePluginDir": "",
		"runtimeRequestTimeout": "0s", "streamingConnectionIdleTimeout": "0s", "imageServiceEndpoint": nil, "logging": map[string]any{"format": "json"},
	} {
		c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Kubelet.Taints = []nodeconfig.Taint{{Key: "b", Effect: "NoSchedule"}}
			n.Kubelet.Config = map[string]any{field: value}
		})
		p, problems := New(c, ubuntu(t))
		if len(problems) > 0 {
			t.Errorf("%s: %v", field, problems)
		}
		argv, _, err := kubeletCommand(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"--v=2", "--volume-plugin-dir=" + familyOf(c).Paths.VolumePlugins, "--runtime-request-timeout=15m"} {
			if !slices.Contains(argv, want) {
				t.Errorf("%s: %s is gone", field, want)
			}
		}
	}
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Kubelet.Config = map[string]any{"registerWithTaints": []any{map[string]any{"key": "a", "effect": "NoSchedule"}}}
	})
	if _, problems := New(c, ubuntu(t)); len(problems) > 0 {
		t.Errorf("registerWithTaints alone: %v", problems)
	}
}

// If a snapshotter serves images to the kubelet, the kubelet uses it, and not another service that the contract also names.
func TestImageServiceOfASnapshotter(t *testing.T) {
	for _, lazyPull := range []string{"", concern.SOCI} {
		c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Runtime.LazyPull = lazyPull
			n.Kubelet.Config = map[string]any{"imageServiceEndpoint": "unix:///run/other.sock"}
			n.Kubelet.Flags = []nodeconfig.Flag{{Name: "image-service-endpoint", Value: "unix:///run/other.sock"}}
		})
		_, problems := New(c, ubuntu(t))
		for _, path := range []string{"$.kubelet.config.imageServiceEndpoint", "$.kubelet.flags[0]"} {
			refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == path && p.Fatal })
			if refused != (lazyPull != "") {
				t.Errorf("with lazyPull %q %s is refused: %v: %v", lazyPull, path, refused, problems)
			}
		}
	}
}

// saysAll is a contract that gives all that a kubelet's managed settings depend on.
func saysAll(t *testing.T, layout, version string) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Components.Layout, n.Cluster.KubernetesVersion, n.Runtime.LazyPull = layout, version, concern.SOCI
		n.Kubelet = nodeconfig.Kubelet{
			NodeName: "node-1.example", NodeIPs: []string{"10.1.2.3", "fd00::1"},
			Labels: map[string]string{"team": "storage", "empty": ""},
			Taints: []nodeconfig.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "b", Value: "c", Effect: "NoExecute"}},
			Config: map[string]any{"serializeImagePulls": true},
			ImageCredentialProvider: &nodeconfig.ImageCredentialProvider{
				BinDir: "/opt/bin", ConfigFile: "/etc/kubernetes/provider.yaml", Config: map[string]any{"kind": "CredentialProviderConfig"},
			},
		}
	})
}

// spellings are other ways to write what Slipway gives, by flag.
var spellings = map[string]func(own string) []string{
	"bootstrap-kubeconfig": slashes, "config": slashes, "config-dir": slashes, "kubeconfig": slashes,
	"image-credential-provider-bin-dir": slashes, "image-credential-provider-config": slashes,
	"container-runtime-endpoint": sockets, "image-service-endpoint": sockets,
	"hostname-override": func(string) []string { return []string{"Node-1.example", " node-1.example"} },
	"node-ip": func(string) []string {
		return []string{"10.1.2.3,fd00:0::1", "::ffff:10.1.2.3,fd00::1", "10.1.2.3, fd00::1"}
	},
	"node-labels": func(string) []string { return []string{"team=storage", "empty,team=storage", "team = storage, empty="} },
	"register-with-taints": func(string) []string {
		return []string{"b=c:NoExecute,a=:NoSchedule", "a:NoSchedule,b=c:NoExecute,a:NoSchedule"}
	},
	"container-runtime": func(own string) []string { return []string{own} },
}

func slashes(own string) []string {
	return []string{own + "/", strings.Replace(own, "/", "//", 1), path.Dir(own) + "/./" + path.Base(own)}
}

func sockets(own string) []string {
	file := strings.TrimPrefix(own, "unix://")
	return []string{file, "unix:///var" + file, "/var" + file, own + "/"}
}

// A flag with Slipway's value is no problem, in any spelling, and the kubelet gets the setting once. Any other
// value is an error. That holds for each managed setting and each family, with the facts of a machine and without.
func TestFlagsThatSayWhatSlipwayGives(t *testing.T) {
	tried := make(map[string]bool)
	for _, layout := range profile.Names() {
		base := saysAll(t, layout, "1.36.3")
		given := maps.Clone(first(New(base, ubuntu(t))).Node.Arguments)
		older := first(New(saysAll(t, layout, "1.26.0"), ubuntu(t))).Node.Arguments
		given["container-runtime"] = older["container-runtime"]
		for flag, argument := range given {
			base, own := base, argument.Value
			if flag == "container-runtime" {
				base = saysAll(t, layout, "1.26.0")
			}
			if own == "" {
				t.Fatalf("%s: %s is not given", layout, flag)
			}
			if spellings[flag] == nil {
				c := *base
				c.Kubelet.Flags = []nodeconfig.Flag{{Name: flag, Value: own + "x"}}
				if _, problems := New(&c, ubuntu(t)); slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return strings.Contains(p.Reason, "is Slipway's to give") }) {
					t.Errorf("%s: --%s is Slipway's to give, and is not tried here", layout, flag)
				}
				continue
			}
			for _, f := range []facts.Facts{ubuntu(t), {}} {
				try := func(value string) (resource.Plan, bool) {
					c := *base
					c.Kubelet.Flags = []nodeconfig.Flag{{Name: flag, Value: value}}
					p, problems := New(&c, f)
					return p, slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.kubelet.flags[0]" })
				}
				for _, value := range append(spellings[flag](own), own) {
					p, problem := try(value)
					if problem {
						t.Errorf("%s: --%s=%s is a problem, and Slipway gives %s", layout, flag, value, own)
					}
					content := string(fileAt(t, p, familyOf(base).Paths.KubeletEnv).Content)
					if without := string(fileAt(t, first(New(base, f)), familyOf(base).Paths.KubeletEnv).Content); content != without {
						t.Errorf("%s: --%s=%s is given twice: %s", layout, flag, value, content)
					}
				}
				for _, value := range []string{"", "/etc/other", own + "x", "x" + own, own + ",x"} {
					if _, problem := try(value); !problem {
						if flag == "node-labels" && value == "" {
							continue // no label differs
						}
						t.Errorf("%s: --%s=%q is taken, and Slipway gives %s", layout, flag, value, own)
					}
				}
			}
			tried[flag] = true
		}
	}
	for flag := range spellings {
		if !tried[flag] {
			t.Errorf("--%s is not a managed setting", flag)
		}
	}
}

// The same holds for a field of the kubelet's configuration.
func TestFieldsThatSayWhatSlipwayGives(t *testing.T) {
	taint := func(key, value, effect string) any {
		return map[string]any{"key": key, "value": value, "effect": effect}
	}
	for field, values := range map[string]struct{ same, other []any }{
		"containerRuntimeEndpoint": {same: texts(sockets(concern.ContainerdSocket)), other: []any{"unix:///run/crio/crio.sock", "/run/containerd"}},
		"imageServiceEndpoint":     {same: texts(sockets("unix://" + concern.SOCISocket)), other: []any{"unix:///run/crio/crio.sock"}},
		"registerWithTaints": {
			same:  []any{[]any{taint("b", "c", "NoExecute"), taint("a", "", "NoSchedule")}},
			other: []any{[]any{taint("a", "", "NoSchedule")}, []any{taint("b", "c", "NoExecute"), taint("a", "x", "NoSchedule")}, []any{"a:NoSchedule,b=c:NoExecute"}},
		},
	} {
		for _, layout := range profile.Names() {
			for i, value := range slices.Concat(values.same, values.other) {
				c := saysAll(t, layout, "1.36.3")
				c.Kubelet.Config = map[string]any{field: value}
				_, problems := New(c, ubuntu(t))
				refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
					return document.Within(p.Path, "$.kubelet.config."+field) && p.Fatal
				})
				if want := i >= len(values.same); refused != want {
					t.Errorf("%s: %s: %v is refused: %t", layout, field, value, refused)
				}
			}
		}
	}
}

func texts(list []string) (all []any) {
	for _, text := range list {
		all = append(all, text)
	}
	return all
}

// A field of the kubelet's configuration that agrees with another field of the contract causes no warning.
func TestFieldsThatAgree(t *testing.T) {
	for _, c := range []struct {
		config map[string]any
		warned string
	}{
		{map[string]any{"clusterDNS": []any{"10.0.0.10"}, "clusterDomain": "example.local"}, ""},
		{map[string]any{"clusterDNS": []any{"10.0.0.11"}}, "$.cluster.dnsServiceIPs"},
		{map[string]any{"clusterDNS": []any{"10.0.0.10", "10.0.0.11"}}, "$.cluster.dnsServiceIPs"},
		{map[string]any{"clusterDomain": "cluster.local"}, "$.cluster.dnsDomain"},
	} {
		_, problems := New(contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Cluster.ServiceCIDRs, n.Cluster.DNSServiceIPs = nil, []string{"10.0.0.10"}
			n.Cluster.DNSDomain, n.Kubelet.Config = "example.local", c.config
		}), ubuntu(t))
		warned := ""
		for _, p := range problems {
			warned += p.Path
		}
		if warned != c.warned {
			t.Errorf("%v: %v", c.config, problems)
		}
	}
}
