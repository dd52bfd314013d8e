package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/kubeletapi"
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

// A flag goes before the field of the same setting. So a contract's field either has no flag of Slipway's beside it,
// or it is a problem: no field counts for nothing in silence.
func TestNoFlagOverridesAFieldInSilence(t *testing.T) {
	others := map[string]any{ // valid values that are none of Slipway's; "1h" for all the rest
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

// What a contract says that is so anyway, or that is nothing, is in nobody's way.
func TestFieldsThatAreNoConflict(t *testing.T) {
	for field, value := range map[string]any{
		"containerRuntimeEndpoint": containerdSocket, "registerWithTaints": []any{}, "volumePluginDir": "",
		"imageServiceEndpoint": nil, "logging": map[string]any{"format": "json"},
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

// A snapshotter that the kubelet asks for images is asked, and not another service that the contract names besides.
func TestImageServiceOfASnapshotter(t *testing.T) {
	for _, lazyPull := range []string{"", soci} {
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
