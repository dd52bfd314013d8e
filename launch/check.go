package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// ability is what an image must be able to do for a contract.
type ability struct {
	// path is the contract's field that needs the ability; what names the ability in messages.
	path, what string
	// wanted returns what the contract needs. Empty means that it needs nothing.
	wanted func(*nodeconfig.NodeConfig) string
	// has returns what the image has; nil means unknown.
	has func(*components.Abilities) []string
}

// abilities lists all of them. The planner checks that each component is installed in the wanted version.
var abilities = []ability{
	{"$.apiVersion", "an agent that reads contracts of the dialect", func(*nodeconfig.NodeConfig) string { return dialect.Native }, func(a *components.Abilities) []string { return a.Dialects }},
	{"$.components.layout", "the layout", func(c *nodeconfig.NodeConfig) string { return c.Components.Layout }, func(a *components.Abilities) []string { return a.Layouts }},
	{"$.runtime.lazyPull", "the snapshotter", func(c *nodeconfig.NodeConfig) string { return c.Runtime.LazyPull }, func(a *components.Abilities) []string { return a.Snapshotters }},
	{"$.system.gpu.vendor", "the GPU driver of", func(c *nodeconfig.NodeConfig) string {
		if c.System.GPU == nil {
			return ""
		}
		return c.System.GPU.Vendor
	}, func(a *components.Abilities) []string { return a.GPUs }},
}

// Check lists, before a machine exists, what the node needs and this version, the image or the instance type cannot do. It runs the
// node's planner and compares the contract with the abilities in the image's manifest. If image is nil, or does not list a component
// that every node has, Check does not know what the image can do and warns. allowed holds the contract's paths of settings that may
// stay unapplied. Check does not repeat the launch's problems.
func (l *Launch) Check(image *components.Manifest, allowed ...string) []nodeconfig.Problem {
	if l == nil {
		return []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: errNoLaunch.Error(), Fatal: true}}
	}
	var known facts.Facts
	var found []nodeconfig.Problem
	silent := "has no manifest"
	if image != nil {
		size := &l.document.Machine.Type
		known = facts.Facts{Components: image.Components, Architecture: size.Architecture, CPUs: size.VCPUs, MemoryBytes: size.MemoryBytes}
		if image.Abilities != nil {
			found = lacking(l.complete, image.Abilities)
		}
		silent = unlisted(image)
	}
	if silent != "" { // the machine itself looks for what its manifest does not list
		known.Components = nil
		found = append(found, nodeconfig.Problem{Kind: nodeconfig.Missing, Path: "$.machine.image", Reason: silent + ", so it is not known whether it has what the node needs"})
	}
	found = append(found, l.plan(known, allowed)...)
	found = slices.DeleteFunc(found, func(p nodeconfig.Problem) bool { return slices.Contains(l.reported, p.Path) })
	for i := range found {
		found[i] = l.base.placed(found[i])
	}
	nodeconfig.SortProblems(found)
	return found
}

// unlisted returns the reason why a manifest is not enough: it lacks a component that every node has. Empty means that it lists them all.
func unlisted(image *components.Manifest) string {
	for _, name := range kubelet.Needed {
		if !slices.ContainsFunc(image.Components, func(c components.Component) bool { return c.Name == name }) {
			return "has a manifest without " + name
		}
	}
	return ""
}

// plan returns the problems that the planner finds with the contract on a machine with the known facts.
func (l *Launch) plan(known facts.Facts, allowed []string) []nodeconfig.Problem {
	contract := l.contract(l.placeholder())
	read := compile.Read([]compile.Document{{Data: contract.Document}}, dialect.Native)
	read.AllowUnapplied(allowed...)
	_, problems := read.Plan(known)
	for i := range problems {
		problems[i].Path, problems[i].Line, problems[i].Column = ofNode(problems[i].Path), 0, 0
	}
	return problems
}

// ofNode returns the path in a [Document] of a contract's path.
func ofNode(path string) string { return "$.node" + strings.TrimPrefix(path, "$") }

// lacking returns a problem for each ability that a contract needs and the image lacks. It skips abilities that the manifest leaves out.
func lacking(c *nodeconfig.NodeConfig, a *components.Abilities) []nodeconfig.Problem {
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
			Kind: nodeconfig.NotInstalled, Path: ofNode(row.path), Fatal: true,
			Reason: fmt.Sprintf("needs %s %s, and %s has %s; use another image", row.what, wanted, of, have),
		})
	}
	return problems
}
