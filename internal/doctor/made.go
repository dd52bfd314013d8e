package doctor

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Planned is the plan of a machine's current generation.
type Planned struct {
	Generation int
	Plan       resource.Plan
	// Unfinished reports that the machine differs from it, or is not healthy with it, and Reason why.
	Unfinished bool
	Reason     string
}

// Facts are the facts about the machine. The caller must not change them.
func (p *Patient) Facts() facts.Facts {
	return p.known.facts.get(func() facts.Facts {
		if p.Gather == nil {
			return facts.Facts{}
		}
		return p.Gather()
	})
}

// Planned is the plan of the current generation. It is nil on a machine without a generation: Slipway has not made it a node.
func (p *Patient) Planned() (*Planned, error) {
	found := p.known.plan.get(func() (found plannedOrError) {
		if p.Current != nil {
			found.plan, found.err = p.Current()
		}
		return found
	})
	return found.plan, found.err
}

// plannedOrError is a plan, or why it cannot be read.
type plannedOrError struct {
	plan *Planned
	err  error
}

// notSlipways is what a check finds that needs a plan, on a machine without one.
func notSlipways() *Finding { return skipped("this is no node of Slipway's") }
