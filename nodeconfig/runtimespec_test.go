package nodeconfig_test

import (
	"math"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// Cases that a changed document cannot express: null, which removes a value of the default; data that a program made in Go; and
// data that is too large for every container.
func TestRuntimeSpec(t *testing.T) {
	const at = "$.runtime.containerd.baseRuntimeSpec"
	for name, c := range map[string]struct {
		spec map[string]any
		want []nodeconfig.Problem
	}{
		"null for lists and texts": {spec: map[string]any{"hostname": nil, "mounts": nil, "linux": map[string]any{"maskedPaths": nil, "sysctl": nil}}},
		"null for what containerd sets values in": {
			map[string]any{"process": nil, "linux": map[string]any{"resources": nil}},
			[]nodeconfig.Problem{{Path: at + ".linux.resources", Reason: "must be a map", Fatal: true}, {Path: at + ".process", Reason: "must be a map", Fatal: true}},
		},
		"made in Go": {
			map[string]any{"process": map[string]any{"oomScoreAdj": 5, "terminal": 1, "env": []string{"A=b"}}},
			[]nodeconfig.Problem{{Path: at + ".process.terminal", Reason: "must be true or false", Fatal: true}},
		},
		"no JSON": {map[string]any{"hostname": math.Inf(1)}, []nodeconfig.Problem{{Path: at, Reason: "cannot be written as JSON", Fatal: true}}},
		"large": {
			map[string]any{"annotations": map[string]any{"a": strings.Repeat("x", 256<<10)}},
			[]nodeconfig.Problem{{Path: at, Reason: "is larger than 256 KiB", Fatal: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := complete(t, contracts.Parse(t, minimal).AppendJSON(nil))
			config.Runtime.Containerd.BaseRuntimeSpec = c.spec
			nodeconfig.Default(config)
			contracts.Compare(t, nodeconfig.Repair(config), c.want)
		})
	}
}
