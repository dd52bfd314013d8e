package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The programs of a required manifest are compared once each. A manifest of an image is input from elsewhere until it is compared itself.
func TestProgramsOfTheManifest(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Components.Manifest = &nodeconfig.ManifestRequirement{SHA256: strings.Repeat("0", 64)}
	})
	for name, test := range map[string]struct {
		further []components.Component
		checks  int
		reason  string
	}{
		"the kubelet and containerd": {nil, 3, ""},
		"another kubelet":            {[]components.Component{{Name: "kubelet", Version: "1.35.1", Path: "/opt/kubelet", SHA256: "b"}}, 3, ""},
		"a network plug-in":          {[]components.Component{{Name: "bridge", Path: "/opt/cni/bin/bridge", SHA256: "b"}}, 3, ""},
		"without a digest":           {[]components.Component{{Name: "runc", Path: "/usr/bin/runc"}}, 3, ""},
		"runc":                       {[]components.Component{{Name: "runc", Path: "/usr/bin/runc", SHA256: "b"}}, 4, ""},
		"twice":                      {[]components.Component{{Name: "ctr", Path: "/usr/bin/containerd", SHA256: "a"}}, 3, ""},
		"two digests for one path":   {[]components.Component{{Name: "ctr", Path: "/usr/bin/containerd", SHA256: "b"}}, 3, "two digests for \"/usr/bin/containerd\""},
		"a relative path":            {[]components.Component{{Name: "runc", Path: "usr/bin/runc", SHA256: "b"}}, 3, "not absolute"},
		"a path upwards":             {[]components.Component{{Name: "runc", Path: "/usr/../bin/runc", SHA256: "b"}}, 3, "not absolute"},
		"a line break in a path":     {[]components.Component{{Name: "runc", Path: "/usr/bin/runc\nx", SHA256: "b"}}, 3, "not absolute"},
	} {
		known := ubuntu(t)
		known.Components = append([]components.Component{
			{Name: "kubelet", Version: c.Cluster.KubernetesVersion, Path: "/usr/bin/kubelet", SHA256: "a"}, {Name: "containerd", Version: "2.2.4", Path: "/usr/bin/containerd", SHA256: "a"},
		}, test.further...)
		planned, problems := New(c, known)
		checks := 0
		for _, r := range planned.Resources {
			if check, is := r.Spec.(*resource.Check); is && (check.Manifest != nil || check.Digest != nil) {
				checks++
			}
		}
		fatal := nodeconfig.Fatal(problems)
		refused := test.reason != "" && slices.ContainsFunc(fatal, func(p nodeconfig.Problem) bool { return strings.Contains(p.Reason, test.reason) })
		if test.reason != "" && (len(fatal) != 1 || !refused) || test.reason == "" && (len(fatal) > 0 || checks != test.checks) {
			t.Errorf("%s: %d checks, %v", name, checks, fatal)
		}
	}
}
