package system

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// additions names the paths at which other programs may add files. It changes no file of the node: internal/integrity reads the
// plan, and leaves out what others have added there.
var additions = concern.Concern{
	Name:  "additions",
	Reads: []string{"$.checks.allowAdditions"},
	Plan: func(in *concern.Input, out *concern.Output) {
		out.Node.Additions = slices.Sorted(slices.Values(in.Config.Checks.AllowAdditions))
	},
}
