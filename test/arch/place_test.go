package arch

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/watch"
	"github.com/slipway-dev/slipway/userdata"
)

// Neither a plan nor a contract may write a file that the agent writes for itself, or that starts
// the agent.
func TestOwnPathsAreReserved(t *testing.T) {
	own := slices.Concat(source.Paths, place.BaseContracts, []string{
		state.Status.Path, agent.FactsPath, agent.IdentityPath, apply.LockPath, watch.MemoryPath, components.Path,
		generation.Dir, generation.Dir + "/index.json", userdata.AKSPath, userdata.NativePath, userdata.NativeYAMLPath,
		strings.Fields(userdata.Contract{Path: userdata.AKSPath}.CSE())[0], strings.Fields(userdata.Contract{}.CSE())[0],
	})
	for _, name := range own {
		if got := place.Check(name); got != "is reserved for Slipway" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
