package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The range that is supported is the one that there are cases of, and outside of it one is told so.
func TestSupportedVersions(t *testing.T) {
	for version, warned := range map[string]bool{"1.25.16": true, "1.26.0": false, "1.37.2": false, "1.38.0": true} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Cluster.KubernetesVersion = version })
		_, problems := New(config, facts.Facts{})
		if got := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Path == VersionPath && !p.Fatal && strings.Contains(p.Reason, "supports Kubernetes 1.26 to 1.37")
		}); got != warned {
			t.Errorf("%s: %v", version, problems)
		}
	}
}
