package launch

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/image/ability"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// Check lists, before a machine exists, what the node needs and this version, the image or the instance type cannot do. It runs the
// node's planner and compares the contract with the abilities in the image's manifest, as "slipway image can" does. If image is nil, or
// does not list a component that every node has, Check does not know what the image can do and warns. allowed holds the contract's
// paths of settings that may stay unapplied. Check does not repeat the launch's problems.
func (l *Launch) Check(image *components.Manifest, allowed ...string) []nodeconfig.Problem {
	if l == nil {
		return []nodeconfig.Problem{{Kind: nodeconfig.Missing, Path: "$", Reason: errNoLaunch.Error(), Fatal: true}}
	}
	contract := l.contract(l.placeholder())
	read := compile.Read([]compile.Document{{Data: contract.Document}}, dialect.Native)
	read.AllowUnapplied(allowed...)
	var known facts.Facts
	if image != nil {
		size := &l.document.Machine.Type
		known = facts.Facts{Architecture: size.Architecture, CPUs: size.VCPUs, MemoryBytes: size.MemoryBytes}
	}
	found, unknown := ability.Check(image, read, known)
	for i := range found {
		found[i].Path, found[i].Line, found[i].Column = ofNode(found[i].Path), 0, 0
	}
	if unknown != "" {
		found = append(found, nodeconfig.Problem{Kind: nodeconfig.Missing, Path: "$.machine.image", Reason: unknown})
	}
	if image != nil && image.Made != nil && image.Made.SecureBoot != nil && !*image.Made.SecureBoot && isTrue(l.document.Machine.Security.SecureBoot) {
		found = append(found, nodeconfig.Problem{Kind: nodeconfig.NotInstalled, Path: "$.machine.security.secureBoot", Fatal: true,
			Reason: "the image's boot loader and kernel are not signed, so the firmware does not start them: build the image with a key, or turn secure boot off"})
	}
	found = slices.DeleteFunc(found, func(p nodeconfig.Problem) bool { return slices.Contains(l.reported, p.Path) })
	for i := range found {
		found[i] = l.base.placed(found[i])
	}
	nodeconfig.SortProblems(found)
	return found
}

// ofNode returns the path in a [Document] of a contract's path.
func ofNode(path string) string { return "$.node" + strings.TrimPrefix(path, "$") }
