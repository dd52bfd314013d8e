package nodeconfig

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// ProblemKind is a problem's category, for programs. The reason is for people.
type ProblemKind string

// The kinds of problems.
const (
	// Unknown: the field, or the value of an enumeration, is unknown.
	Unknown ProblemKind = document.Unknown
	// WrongType: the value has another type than the field.
	WrongType ProblemKind = document.WrongType
	// Invalid: the value has the right type but is not allowed, or the document is not a contract.
	Invalid ProblemKind = document.Invalid
	// Missing: a required value is not set.
	Missing ProblemKind = "Missing"
	// NotApplied: this version does not apply the setting.
	NotApplied ProblemKind = "NotApplied"
	// NoEffect: according to its dialect, the setting changes no node.
	NoEffect ProblemKind = "NoEffect"
	// Dropped: the value is valid, but is left out because of another setting or because of its position.
	Dropped ProblemKind = document.Dropped
	// Deprecated is for a value that is read, and that its dialect will remove.
	Deprecated ProblemKind = "Deprecated"
	// NotInstalled: the machine does not have a component in the required version.
	NotInstalled ProblemKind = "NotInstalled"
	// Conflict is two values that should be the same, such as a detected one and an author's: "Conflict".
	Conflict ProblemKind = "Conflict"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Kind is the problem's category.
	Kind ProblemKind `json:"kind,omitempty"`
	// Path is the JSON path of the value, in the terms of the document that has it.
	Path string `json:"path"`
	// Reason is what is wrong and what to do. It never repeats a string of the document.
	Reason string `json:"reason"`
	// Fatal problems stop before any side effect. For other problems, the value is left out.
	Fatal bool `json:"fatal"`
	// Document is the path of the document on the node if that is not the contract but the image's own. If a contract consists of
	// several documents, it is the name of the one with the value. Otherwise it is empty.
	Document string `json:"document,omitempty"`
	// Line and Column are the position of the value in the text of the document, counted from 1, the column in characters. 0 means
	// unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`

	// setting is the path of a setting that the reason names.
	setting string
}

// Naming returns the problem with the setting of the NodeConfig that its reason names: its path without "$.".
func (p Problem) Naming(setting string) Problem {
	p.setting = setting
	return p
}

// Translated returns the problem in another dialect's terms. path translates paths of the NodeConfig, and name translates the path
// of a setting that the reason names.
func (p Problem) Translated(path, name func(string) string) Problem {
	p.Path = path(p.Path)
	if p.setting != "" {
		p.Reason = strings.Replace(p.Reason, strings.TrimPrefix(p.setting, "$."), name(p.setting), 1)
		p.setting = ""
	}
	return p
}

// String returns the problem on one line.
func (p Problem) String() string {
	severity := "warning"
	if p.Fatal {
		severity = "error"
	}
	return severity + ": " + p.Where() + ": " + p.Reason
}

// Where returns the path of the value. If the document is not the contract, its path comes first. If the problem concerns the whole
// document, Where returns the position in its text, if known.
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

// Unreadable returns the problem of a document that cannot be parsed.
func Unreadable(err error) Problem {
	p := Problem{Kind: Invalid, Path: "$", Reason: err.Error(), Fatal: true}
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		p.Line, p.Column, p.Reason = syntax.Line, syntax.Column, syntax.Reason() // the position is already in Line and Column
	}
	return p
}

// ProblemOf converts a decoder's fault to a problem. vital reports whether no node can be made without the value.
func ProblemOf(f document.Fault, vital bool) Problem {
	kind := ProblemKind(f.Kind)
	return Problem{
		Kind: kind, Path: f.Path, Reason: f.Reason, Line: int(f.Line), Column: int(f.Column),
		Fatal: vital && kind != Unknown || errors.Is(f.Err, errRedacted),
	}
}

// Fatal returns the problems that are fatal.
//
//go:noinline
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
