package nodeconfig_test

import (
	"fmt"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// One config has the settings of all nodes, and a pool's config adds to them.
func ExampleMerge() {
	everywhere := &nodeconfig.NodeConfig{Kubelet: nodeconfig.Kubelet{
		Labels: map[string]string{"team": "storage"},
		Config: map[string]any{"maxPods": 110, "failSwapOn": true},
	}}
	pool := &nodeconfig.NodeConfig{Kubelet: nodeconfig.Kubelet{
		Labels: map[string]string{"pool": "large"},
		Config: map[string]any{"failSwapOn": false},
	}}
	fmt.Printf("%s\n", nodeconfig.Encode(nodeconfig.Merge(everywhere, pool)))
	// Output:
	// {"kubelet":{"config":{"failSwapOn":false,"maxPods":110},"labels":{"pool":"large","team":"storage"}}}
}
