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
	Look func(ctx context.Context, p *Patient) Finding
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

func fine(format string, args ...any) Finding {
	return Finding{State: Fine, Says: fmt.Sprintf(format, args...)}
}

func wrong(cause, format string, args ...any) Finding {
	return Finding{State: Wrong, Cause: cause, Says: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) Finding {
	return Finding{State: Unknown, Says: fmt.Sprintf(format, args...)}
}

// undecided is a finding without which nothing that needs it can be found.
func undecided(format string, args ...any) Finding {
	return Finding{State: Unknown, Says: fmt.Sprintf(format, args...), blocks: true}
}

func skipped(format string, args ...any) Finding {
	return Finding{State: Skipped, Says: fmt.Sprintf(format, args...)}
}

// withLines adds lines of a program as evidence.
func (f Finding) withLines(what string, lines []string) Finding {
	for _, line := range lines[max(0, len(lines)-maxLines):] {
		f = f.with(Evidence{what, line})
	}
	return f
}

// maxLines limits the lines of a program in a report.
const maxLines = 10

// with adds evidence.
func (f Finding) with(evidence ...Evidence) Finding {
	f.Evidence = append(f.Evidence, evidence...)
	return f
}
