package compile

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// AllowUnapplied allows settings not to be applied that are errors otherwise, because somebody needs them: they are
// warnings then. A setting is named by its path, in the documents' terms or in Config's, with or without "$."; everything
// below it is allowed, too.
func (c *Contract) AllowUnapplied(paths ...string) {
	for _, path := range paths {
		c.allowed = append(c.allowed, "$."+strings.TrimPrefix(path, "$."))
	}
	c.Problems = c.permitted("", slices.Clone(c.read))
	nodeconfig.SortProblems(c.Problems)
}

// IsUnapplied reports whether a problem is a setting that nobody applies, that somebody needs, and that is not allowed to
// be left out.
func IsUnapplied(p nodeconfig.Problem) bool { return p.Fatal && p.Kind == nodeconfig.NotApplied }

// Unapplied are the settings that nobody applies, of problems of this contract, but for those that may be left out.
func (c *Contract) Unapplied(problems []nodeconfig.Problem) []string {
	var paths []string
	for _, p := range problems {
		if p.Kind == nodeconfig.NotApplied && !c.allows(p.Path) && !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// permitted says of each problem whether it is allowed, and of those that are not, how they are. path is the place in
// Config that all of them are about; empty for none.
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

// flagValue is a path as somebody can write it behind a flag.
func flagValue(path string) string {
	path = strings.TrimPrefix(path, "$.")
	if strings.ContainsAny(path, `"[]`) {
		return "'" + path + "'"
	}
	return path
}
