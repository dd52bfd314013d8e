package compile

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// AllowUnapplied turns errors about settings that this version does not apply, although a workload may need them, into warnings. A
// path is in the documents' terms or in Config's, with or without "$."; all settings below it are allowed, too.
func (c *Contract) AllowUnapplied(paths ...string) {
	for _, path := range paths {
		c.allowed = append(c.allowed, "$."+strings.TrimPrefix(path, "$."))
	}
	c.Problems = c.permitted("", slices.Clone(c.read))
	nodeconfig.SortProblems(c.Problems)
}

// IsUnapplied reports whether a problem is a setting that this version does not apply, that may be needed, and that is not allowed
// to be left out.
func IsUnapplied(p nodeconfig.Problem) bool { return p.Fatal && p.Kind == nodeconfig.NotApplied }

// Unapplied returns the settings in problems of this contract that are not applied, except those that may be left out.
func (c *Contract) Unapplied(problems []nodeconfig.Problem) []string {
	var paths []string
	for _, p := range problems {
		if p.Kind == nodeconfig.NotApplied && !c.allows(p.Path) && !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// permitted turns each problem that is allowed into a warning, and adds to the others how to allow them. path is the path in Config
// of all of them; it may be empty.
func (c *Contract) permitted(path string, problems []nodeconfig.Problem) []nodeconfig.Problem {
	for i := range problems {
		p := &problems[i]
		if !IsUnapplied(*p) {
			continue
		}
		if p.Fatal = !c.allows(p.Path) && (path == "" || !c.allows(path)); p.Fatal {
			p.Reason += "; to make a node without it, use --allow-unapplied " + flagValue(p.Path)
		}
	}
	return problems
}

// allows reports whether a setting may be left out.
func (c *Contract) allows(path string) bool {
	return slices.ContainsFunc(c.allowed, func(allowed string) bool { return document.Within(path, allowed) })
}

// flagValue quotes a path for use after a flag in a shell.
func flagValue(path string) string {
	path = strings.TrimPrefix(path, "$.")
	if strings.ContainsAny(path, `"[]`) {
		return "'" + path + "'"
	}
	return path
}
