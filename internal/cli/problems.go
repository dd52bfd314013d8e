package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Problems formats problems for people and for editors, one in a line, as compilers print them:
//
//	FILE:LINE:COLUMN: error: $.path: reason
//
// Unknown lines and columns are left out. If a problem names its document, that replaces the file.
func Problems(file string, problems []nodeconfig.Problem, style Style) string {
	var out strings.Builder
	for _, p := range problems {
		place := Line(cmp.Or(p.Document, file))
		if p.Line > 0 {
			place += fmt.Sprintf(":%d:%d", p.Line, p.Column)
		}
		severity := style.Yellow("warning")
		if p.Fatal {
			severity = style.Red("error")
		}
		fmt.Fprintf(&out, "%s: %s: %s: %s\n", style.Bold(place), severity, Line(p.Path), Line(p.Reason))
	}
	return out.String()
}

// CountProblems counts problems in words: "1 error, 2 warnings".
func CountProblems(problems []nodeconfig.Problem) string {
	fatal := len(nodeconfig.Fatal(problems))
	warnings := len(problems) - fatal
	switch {
	case len(problems) == 0:
		return "no problems"
	case warnings == 0:
		return Plural(fatal, "error")
	case fatal == 0:
		return Plural(warnings, "warning")
	}
	return Plural(fatal, "error") + ", " + Plural(warnings, "warning")
}
