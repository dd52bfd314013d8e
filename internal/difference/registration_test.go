package difference

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A change of labels and taints alone restarts nothing, in each family of nodes: the kubelet reads them when it registers. With
// anything else it restarts as ever.
func TestLabelsRestartNothing(t *testing.T) {
	labels := func(c *nodeconfig.NodeConfig) { c.Kubelet.Labels = map[string]string{"a": "b", "example.com/c": "d"} }
	other := func(c *nodeconfig.NodeConfig) { c.Kubelet.Labels = map[string]string{"a": "c", "b": ""} }
	taints := func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Taints = []nodeconfig.Taint{{Key: "t", Value: "x", Effect: "NoSchedule"}, {Key: "u", Effect: "NoExecute"}}
	}
	inConfig := func(value string) func(*nodeconfig.NodeConfig) {
		return func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{"registerWithTaints": []any{map[string]any{"key": "t", "value": value, "effect": "NoSchedule"}}}
		}
	}
	verbose := func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "v", Value: "7"})
	}
	type edits = []func(*nodeconfig.NodeConfig)
	for _, example := range []string{"native/minimal.yaml", "aks/minimal.json", "aks/kubenet.json"} {
		for _, layout := range []string{"", "eks", "eksctl"} {
			if layout != "" && example != "native/minimal.yaml" {
				continue
			}
			laidOut := func(c *nodeconfig.NodeConfig) {
				if layout != "" {
					c.Components.Layout = layout
				}
			}
			for name, c := range map[string]struct {
				before, after edits
				restarts      bool
			}{
				"other labels":                  {edits{labels}, edits{other}, false},
				"other labels, and taints":      {edits{labels, taints}, edits{other}, false},
				"another value of a taint":      {edits{inConfig("a")}, edits{inConfig("b")}, false},
				"other labels and another flag": {edits{labels}, edits{other, verbose}, true},
			} {
				a := planOn(t, func(*facts.Facts) {}, example, append(c.before, laidOut)...)
				b := planOn(t, func(*facts.Facts) {}, example, append(c.after, laidOut)...)
				d := of(t, a, b)
				if got := strings.Join(d.Restarts, ","); (got == "kubelet.service") != c.restarts || d.Same {
					t.Errorf("%s %s: %s: restarts %q, class %s\n%s", example, layout, name, got, d.Class, d.Text(cli.Style{}))
				}
			}
		}
	}
}
