// Package compile is the one way from a document that was read to a plan, with everything that is wrong on it:
// what the document's author should know is the same on a workstation, at boot and on a running node.
//
// It joins what the dialect and the planner find, decides nothing itself and touches nothing. Both programs
// call it.
package compile

import (
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Result is what becomes of a document on a machine.
type Result struct {
	// Plan is the node's plan, where nothing is fatal. Otherwise it is what could be planned, and of use to nobody
	// but who looks at it.
	Plan resource.Plan
	// Problems are all that the dialect, validation and the planner found, fatal ones first, in the document's own
	// terms. Also where a problem is fatal the planner's are there, as far as they can be known.
	Problems []nodeconfig.Problem
	// ExitCode is the code of a provisioning that stops for what is fatal; 0 where nothing is.
	ExitCode int
}

// Plan plans the node that a document describes.
func Plan(d *dialect.Decoded, known facts.Facts) Result {
	r := Result{Problems: slices.Clone(d.Problems)}
	if fatal := nodeconfig.Fatal(r.Problems); len(fatal) > 0 {
		r.ExitCode = exitcode.ContractInvalid
	}
	if len(d.Canonical) == 0 {
		return r // it is no document, or of no dialect that is known
	}
	var problems []nodeconfig.Problem
	r.Plan, problems = plan.New(d.Config, known)
	r.Plan.Dialect = d.Dialect
	if r.ExitCode == 0 {
		r.ExitCode = plan.ExitCode(problems)
	}
	seen := make(map[nodeconfig.Problem]bool)
	unread := make(map[string]bool) // paths whose values could not be used: what follows from that is said already
	for _, p := range d.Problems {
		seen[p] = true
		unread[p.Path] = unread[p.Path] || p.Fatal
	}
	for _, p := range problems {
		if p = d.Place(p); !unread[p.Path] && !seen[p] {
			seen[p] = true
			r.Problems = append(r.Problems, p)
		}
	}
	nodeconfig.SortProblems(r.Problems)
	return r
}
