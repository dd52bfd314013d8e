package join

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Each step that may have a timeout is one of the client's.
func TestAttestedSteps(t *testing.T) {
	var steps []string
	for _, s := range attestedSteps {
		steps = append(steps, s.step)
	}
	if !slices.Equal(steps, nodeconfig.AttestedSteps) {
		t.Errorf("the client's steps are %q, and a contract's %q", steps, nodeconfig.AttestedSteps)
	}
}
