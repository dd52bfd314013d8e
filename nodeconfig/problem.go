package nodeconfig

import (
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Path is the JSON path of the value, in the terms of the document it was found in.
	Path string `json:"path"`
	// Reason says what is wrong and what to do; it never repeats a string of the document.
	Reason string `json:"reason"`
	// Fatal problems stop before any side effect; what others are about is left out.
	Fatal bool `json:"fatal"`
}

// String is the problem on one line.
func (p Problem) String() string {
	severity := "warning"
	if p.Fatal {
		severity = "error"
	}
	return severity + ": " + p.Path + ": " + p.Reason
}

// Fatal returns the problems that are fatal.
func Fatal(problems []Problem) []Problem {
	var fatal []Problem
	for _, p := range problems {
		if p.Fatal {
			fatal = append(fatal, p)
		}
	}
	return fatal
}

// SortProblems orders problems: fatal ones first, each kind by path.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Fatal != b.Fatal {
			if a.Fatal {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
}
