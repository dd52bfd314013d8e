// Package ability says whether a node image can make the node of a contract, from the image's manifest, before a machine exists.
//
// It is pure. launch and "slipway image can" call it, so both give the same answer.
package ability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ability is what an image must be able to do for a contract.
type ability struct {
	// path is the contract's field that needs the ability; what names the ability in messages.
	path, what string
	// wanted returns what the contract needs. Empty means that it needs nothing.
	wanted func(*compile.Contract) string
	// has returns what the image has; nil means unknown.
	has func(*components.Abilities) []string
}

// abilities lists all of them. The planner checks that each component is installed in the wanted version.
var abilities = []ability{
	{"$.apiVersion", "an agent that reads contracts of the dialect", func(c *compile.Contract) string { return c.Dialect }, func(a *components.Abilities) []string { return a.Dialects }},
	{"$.components.layout", "the layout", func(c *compile.Contract) string { return c.Config.Components.Layout }, func(a *components.Abilities) []string { return a.Layouts }},
	{"$.runtime.lazyPull", "the snapshotter", func(c *compile.Contract) string { return c.Config.Runtime.LazyPull }, func(a *components.Abilities) []string { return a.Snapshotters }},
	{"$.system.gpu.vendor", "the GPU driver of", func(c *compile.Contract) string {
		if c.Config.System.GPU == nil {
			return ""
		}
		return c.Config.System.GPU.Vendor
	}, func(a *components.Abilities) []string { return a.GPUs }},
}

// Check plans a contract for a machine with the image, and compares the contract with the abilities in the image's manifest. machine are
// the facts that are known apart from the image. The problems have the paths of the contract, and include those of the contract itself.
//
// If image is nil, or does not list a component that every node has, unknown says so: then it is not known whether the image has what the
// node needs.
func Check(image *components.Manifest, contract *compile.Contract, machine facts.Facts) (problems []nodeconfig.Problem, unknown string) {
	if reason := unlisted(image); reason != "" { // the machine itself looks for what its manifest does not list
		unknown = reason + ", so it is not known whether it has what the node needs"
	} else {
		machine.Components = image.Components
	}
	_, problems = contract.Plan(machine)
	if image != nil && image.Abilities != nil {
		for _, p := range lacking(contract, image.Abilities) {
			problems = append(problems, contract.Place(p))
		}
	}
	return problems, unknown
}

// unlisted returns the reason why a manifest is not enough: there is no manifest, or it lacks a component that every node has. Empty means
// that it lists them all.
func unlisted(image *components.Manifest) string {
	if image == nil {
		return "has no manifest"
	}
	for _, name := range kubelet.Needed {
		if !slices.ContainsFunc(image.Components, func(c components.Component) bool { return c.Name == name }) {
			return "has a manifest without " + name
		}
	}
	return ""
}

// lacking returns a problem for each ability that a contract needs and the image lacks. It skips abilities that the manifest leaves out.
func lacking(c *compile.Contract, a *components.Abilities) []nodeconfig.Problem {
	var problems []nodeconfig.Problem
	for _, row := range abilities {
		wanted, has := row.wanted(c), row.has(a)
		if wanted == "" || has == nil || slices.Contains(has, wanted) {
			continue
		}
		of := "the image"
		if a.AgentVersion != "" {
			of += " with agent " + a.AgentVersion
		}
		have := "none"
		if len(has) > 0 {
			have = strings.Join(has, ", ")
		}
		problems = append(problems, nodeconfig.Problem{
			Kind: nodeconfig.NotInstalled, Path: row.path, Fatal: true,
			Reason: fmt.Sprintf("needs %s %s, and %s has %s; use another image", row.what, wanted, of, have),
		})
	}
	return problems
}
