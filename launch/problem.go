package launch

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Problems are all that is wrong with a launch, fatal ones first. As an error they are the fatal ones.
type Problems []nodeconfig.Problem

// Error names the fatal problems, one a line.
func (p Problems) Error() string {
	var lines []string
	for _, problem := range nodeconfig.Fatal(p) {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

// Err is the error of the fatal problems; nil if no problem is fatal.
func (p Problems) Err() error {
	if fatal := nodeconfig.Fatal(p); len(fatal) > 0 {
		return Problems(fatal)
	}
	return nil
}

// Join appends problems, but for those at the place of a fatal one of p.
func (p Problems) Join(found ...nodeconfig.Problem) Problems {
	all := p
	for _, f := range found {
		if !slices.ContainsFunc(p, func(known nodeconfig.Problem) bool {
			return known.Fatal && known.Path == f.Path && known.Document == f.Document
		}) {
			all = append(all, f)
		}
	}
	return all
}

// placed returns a problem with the place in the source that sets the value. If that place is a field with a whole document, such as
// user data, the reason names the path in that document.
func (b *base) placed(p nodeconfig.Problem) nodeconfig.Problem {
	for i := range b.layers {
		l := &b.layers[i]
		if l.Place == nil || p.Document != "" {
			continue
		}
		found, line := false, ""
		l.each(func(at []byte, _ *document.Node) { // a problem can be with an entry of a list, which is one value
			switch own := l.Lines[string(at)]; {
			case document.Within(p.Path, string(at)) && own != "":
				line = own
			case own == "":
				found = found || document.Within(p.Path, string(at)) || document.Within(string(at), p.Path)
			}
		})
		if place, ok := l.Place(p.Path); found && ok {
			p.Path, p.Document = place, l.Origin
		} else if line != "" {
			if inner, ok := strings.CutPrefix(p.Path, "$.node"); ok {
				p.Reason = "at $" + inner + ": " + p.Reason
			}
			p.Path, p.Document = line, l.Origin
		}
	}
	return p
}
