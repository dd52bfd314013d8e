package nodeconfig

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// ProblemKind says what sort of thing a problem is, for programs; what a person should know is in the reason.
type ProblemKind string

// The kinds of problems.
const (
	// Unknown is a field, or a value of an enumeration, that is not known: "Unknown".
	Unknown ProblemKind = document.Unknown
	// WrongType is a value of another type than the field's: "WrongType".
	WrongType ProblemKind = document.WrongType
	// Invalid is a value of the right type that is not possible, or a document that is none: "Invalid".
	Invalid ProblemKind = document.Invalid
	// Missing is a value that is needed and not there: "Missing".
	Missing ProblemKind = "Missing"
	// NotApplied is a setting that this version does not apply: "NotApplied".
	NotApplied ProblemKind = "NotApplied"
	// NoEffect is a setting that changes no node, by what its dialect says of it: "NoEffect".
	NoEffect ProblemKind = "NoEffect"
	// Dropped is a good value that is left out because of what else is said, or of where: "Dropped".
	Dropped ProblemKind = document.Dropped
	// Deprecated is a value that is read, and that its dialect will not have for ever: "Deprecated".
	Deprecated ProblemKind = "Deprecated"
	// NotInstalled is a component that the machine does not have in the version that is wanted: "NotInstalled".
	NotInstalled ProblemKind = "NotInstalled"
	// Conflict is two values that should be the same, such as a detected one and an author's: "Conflict".
	Conflict ProblemKind = "Conflict"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Kind is what sort of thing it is.
	Kind ProblemKind `json:"kind,omitempty"`
	// Path is the JSON path of the value, in the terms of the document it was found in.
	Path string `json:"path"`
	// Reason says what is wrong and what to do; it never repeats a string of the document.
	Reason string `json:"reason"`
	// Fatal problems stop before any side effect; what others are about is left out.
	Fatal bool `json:"fatal"`
	// Document is the path of the document on the node, where that is not the contract: the image's own. Where a
	// contract is made of several documents, it is the name of the one that has the value. Else it is empty.
	Document string `json:"document,omitempty"`
	// Line and Column are where the value is in the text of the document, counted from 1, the column in
	// characters; 0 where that is not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`

	// setting is the path of a setting that the reason names.
	setting string
}

// Naming returns the problem as one whose reason names a setting of the NodeConfig: its path without "$.".
func (p Problem) Naming(setting string) Problem {
	p.setting = setting
	return p
}

// Translated returns the problem in another dialect's terms: path translates paths of the NodeConfig, and name the path of a setting
// that the reason names.
func (p Problem) Translated(path, name func(string) string) Problem {
	p.Path = path(p.Path)
	if p.setting != "" {
		p.Reason = strings.Replace(p.Reason, strings.TrimPrefix(p.setting, "$."), name(p.setting), 1)
		p.setting = ""
	}
	return p
}

// String is the problem on one line.
func (p Problem) String() string {
	severity := "warning"
	if p.Fatal {
		severity = "error"
	}
	return severity + ": " + p.Where() + ": " + p.Reason
}

// Where is the path of the value, with the document's before it where that is not the contract. Where the problem is
// the whole document's, it is the place in its text, if that is known.
func (p Problem) Where() string {
	where := p.Path
	if p.Path == "$" && p.Line > 0 {
		where = fmt.Sprintf("line %d column %d", p.Line, p.Column)
	}
	if p.Document == "" {
		return where
	}
	return p.Document + ": " + where
}

// Unreadable is the problem of a document that cannot be parsed.
func Unreadable(err error) Problem {
	p := Problem{Kind: Invalid, Path: "$", Reason: err.Error(), Fatal: true}
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		p.Line, p.Column, p.Reason = syntax.Line, syntax.Column, syntax.Reason() // the place is said once
	}
	return p
}

// ProblemOf is the problem that a decoder's fault is; vital says whether the value is one without which no node is
// made.
func ProblemOf(f document.Fault, vital bool) Problem {
	kind := ProblemKind(f.Kind)
	return Problem{
		Kind: kind, Path: f.Path, Reason: f.Reason, Line: int(f.Line), Column: int(f.Column),
		Fatal: vital && kind != Unknown || errors.Is(f.Err, errRedacted),
	}
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
	sort.SliceStable(problems, func(i, j int) bool {
		a, b := &problems[i], &problems[j]
		if a.Fatal != b.Fatal {
			return a.Fatal
		}
		return a.Path < b.Path
	})
}
