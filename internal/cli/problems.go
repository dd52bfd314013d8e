package cli

import (
	"github.com/slipway-dev/slipway/nodeconfig"
)

// widestPath bounds the column of a problem's path.
const widestPath = 48

// Problems returns problems for people, one on a line: severity, path and reason.
func Problems(problems []nodeconfig.Problem, style Style) string {
	table := Table{Widest: widestPath}
	for _, p := range problems {
		severity := Cell{"warning", style.Yellow}
		if p.Fatal {
			severity = Cell{"error", style.Red}
		}
		table.Row(severity, Cell{Text: p.Path}, Cell{Text: p.Reason})
	}
	return table.String()
}

// CountProblems says how many problems there are: "1 error, 2 warnings".
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
