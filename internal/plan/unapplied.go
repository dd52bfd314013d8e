package plan

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// indispensable are the settings that this version does not apply and that protect somebody, or without which the node cannot do
// what it is there for, each with what the node would lack. A contract with one of them makes no node, unless it is allowed by
// name: a node that joins without it looks well, and is not. Of the others, which make a node better or other, the contract's
// author is warned.
var indispensable = []struct{ path, why string }{
	{"$.runtime.containerd.baseRuntimeSpec", "containers would run without the limits that it sets"},
}

// unapplied is the problem of a setting that nobody reads: an error where it is indispensable.
func unapplied(path string) nodeconfig.Problem {
	p := notApplied(path)
	for _, s := range indispensable {
		if document.Within(path, s.path) {
			p.Fatal = true
			p.Reason += ": " + s.why
		}
	}
	return p
}
