package doctor

import (
	"context"
	"fmt"
	"time"
)

// Check is a row of the table: one question about a machine.
type Check struct {
	// Name identifies the check in JSON, in other rows' Needs and in the documentation.
	Name string
	// Group is the title of the part of the table that has the check.
	Group string
	// Asks is the question, for people.
	Asks string
	// Needs names checks earlier in the table. If one of them is wrong, or was not looked at, this one is not looked at.
	Needs []string
	// last reports that only wrong checks keep this one from being looked at: it shows what no other check explains.
	last bool
	// Live reports that the answer is in the running machine, and not in its files.
	Live bool
	// Deadline limits the check on a machine of ordinary speed. Zero means one second.
	Deadline time.Duration
	// Causes are all that can be wrong.
	Causes []Cause
	// Look answers the question.
	Look func(ctx context.Context, p *Patient) *Finding
}

// Cause is a reason for a check to be wrong.
type Cause struct {
	Name string
	// Means is a sentence for the documentation.
	Means string
	// Action is the next step, for the person who reads the verdict.
	Action string
}

// State is what a check has come to.
type State string

// The states.
const (
	Fine    State = "fine"
	Wrong   State = "wrong"
	Skipped State = "not looked at" // something that it needs is wrong, or a directory cannot show it
	Unknown State = "not known"     // the machine did not let the check look
)

// Finding is the answer of a check.
type Finding struct {
	State State
	// Cause is the name of a row of the check's causes, if the state is wrong.
	Cause string
	// Says is one sentence, without a full stop: the verdict with what was tried.
	Says string
	// Action replaces that of the cause, if not empty.
	Action   string
	Evidence []Evidence
	// blocks reports that what needs the check is not looked at, although it is not wrong.
	blocks bool
}

// Evidence is one thing that a check tried or read, and what came of it.
type Evidence struct {
	What string `json:"what"`
	Got  string `json:"got"`
}

// The verdicts stand at some 300 places. The compiler must not copy them there.

//go:noinline
func fine(format string, args ...any) *Finding { return new(Finding).fine(format, args...) }

//go:noinline
func wrong(cause, format string, args ...any) *Finding {
	return new(Finding).wrong(cause, format, args...)
}

//go:noinline
func unknown(format string, args ...any) *Finding { return new(Finding).unknown(format, args...) }

// unknownFor is the finding of a check that could not read what it needs.
//
//go:noinline
func unknownFor(err error) *Finding { return unknown("%v", err) }

//go:noinline
func undecided(format string, args ...any) *Finding { return new(Finding).undecided(format, args...) }

//go:noinline
func skipped(format string, args ...any) *Finding {
	return &Finding{State: Skipped, Says: fmt.Sprintf(format, args...)}
}

// fine is a verdict after evidence.
//
//go:noinline
func (f *Finding) fine(format string, args ...any) *Finding {
	f.State, f.Says = Fine, fmt.Sprintf(format, args...)
	return f
}

// wrong is a verdict after evidence, or instead of an earlier one.
//
//go:noinline
func (f *Finding) wrong(cause, format string, args ...any) *Finding {
	f.State, f.Cause, f.Says = Wrong, cause, fmt.Sprintf(format, args...)
	return f
}

// unknown is a verdict after evidence.
//
//go:noinline
func (f *Finding) unknown(format string, args ...any) *Finding {
	f.State, f.Says = Unknown, fmt.Sprintf(format, args...)
	return f
}

// undecided is a verdict without which nothing that needs the check can be found.
//
//go:noinline
func (f *Finding) undecided(format string, args ...any) *Finding {
	f.blocks = true
	return f.unknown(format, args...)
}

// is reports whether a cause has been found.
//
//go:noinline
func (f *Finding) is(cause string) bool { return f != nil && f.Cause == cause }

// with adds evidence.
//
//go:noinline
func (f *Finding) with(what, got string) *Finding {
	f.Evidence = append(f.Evidence, Evidence{what, got})
	return f
}

// withLines adds lines of a program as evidence.
func (f *Finding) withLines(what string, lines []string) *Finding {
	for _, line := range lines[max(0, len(lines)-maxLines):] {
		f.with(what, line)
	}
	return f
}

// maxLines limits the lines of a program in a report.
const maxLines = 10
