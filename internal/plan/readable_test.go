package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// No file has a character for which systemd refuses the whole file, whether a contract that was not validated or the
// facts bring it.
func TestFilesAreReadable(t *testing.T) {
	for _, bad := range []string{"\ufdd0", "\ufffe", "\U0001ffff", "\U0010fffe", "\x00", "\xff"} {
		for name, change := range map[string]func(*nodeconfig.NodeConfig){
			"flag": func(c *nodeconfig.NodeConfig) {
				c.Kubelet.Flags = []nodeconfig.Flag{{Name: "root-dir", Value: "/a" + bad}}
			},
			"label": func(c *nodeconfig.NodeConfig) { c.Kubelet.Labels = map[string]string{"a": bad} },
			"limit": func(c *nodeconfig.NodeConfig) { c.Runtime.Containerd.Limits = map[string]string{"NOFILE": "1" + bad} },
		} {
			c := contract(t, "native/minimal.yaml")
			change(c)
			_, problems := New(c, ubuntu(t))
			if !slices.ContainsFunc(nodeconfig.Fatal(problems), func(p nodeconfig.Problem) bool { return strings.Contains(p.Reason, "systemd would not read it") }) {
				t.Errorf("%s with %q: %v", name, bad, problems)
			}
		}
		c, known := contract(t, "aks/minimal.json"), ubuntu(t)
		known.NodeIPs = []string{"10.0.0.1" + bad}
		if _, problems := New(c, known); len(nodeconfig.Fatal(problems)) == 0 {
			t.Errorf("an address with %q is taken", bad)
		}
	}
	for _, good := range []string{"é", "\u2028", "\t", "\U0001f600"} {
		c := contract(t, "native/minimal.yaml")
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "root-dir", Value: "/a" + good}}
		if _, problems := New(c, ubuntu(t)); len(problems) > 0 {
			t.Errorf("%q: %v", good, problems)
		}
	}
}
