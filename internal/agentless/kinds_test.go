package agentless

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Each kind has exactly one way to a node without an agent: a writer here, or a command or a loss in its row.
func TestEveryKindHasOneWayWithoutAnAgent(t *testing.T) {
	for name, kind := range resource.Kinds {
		ways := 0
		for _, is := range []bool{writers[name] != nil, kind.Agentless.AtBoot != nil, kind.Agentless.Lost != ""} {
			if is {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("%s: %d ways; give its row in resource.Kinds an Agentless, or add it to writers", name, ways)
		}
	}
	for name := range writers {
		if resource.Kinds[name].New == nil {
			t.Errorf("%s is not a kind", name)
		}
	}
}

// unknown is a resource of a kind that no table has.
type unknown struct{ *resource.Module }

func (unknown) Kind() string { return "Unknown" }

// If a resource's kind is in no table, the node is refused.
func TestUnknownKindIsFatal(t *testing.T) {
	m := Of(resource.Plan{Resources: []resource.Resource{{Spec: unknown{&resource.Module{Module: "a"}}}}}, profile.Default())
	if fatal := m.Fatal(); len(fatal) != 1 || fatal[0].ID != "Unknown:a" {
		t.Errorf("got %v", m.Losses)
	}
}
