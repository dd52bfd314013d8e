package doctor

import (
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Health is the conclusion from all checks.
type Health string

// The conclusions.
const (
	Healthy  Health = "healthy"
	Sick     Health = "sick"
	NotKnown Health = "not known"
)

// Report is what was found, in the order of the table: causes come before what can follow from them.
type Report struct {
	// SchemaVersion changes when a reader has to.
	SchemaVersion int       `json:"schemaVersion"`
	Time          time.Time `json:"time"`
	Health        Health    `json:"health"`
	Checks        []Result  `json:"checks"`
}

// Result is a check with its finding.
type Result struct {
	Check string `json:"check"`
	Group string `json:"group"`
	Asks  string `json:"asks"`
	State State  `json:"state"`
	Cause string `json:"cause,omitempty"`
	// Verdict is one sentence: what was found, and how.
	Verdict string `json:"verdict"`
	// Action is the next step, if the state is wrong.
	Action string `json:"action,omitempty"`
	// Because is the name of the check that is wrong or undecided, if this one was not looked at for that.
	Because  string     `json:"because,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

func (r *Result) fill(check *Check, finding *Finding) {
	r.Check, r.Group, r.Asks = check.Name, check.Group, check.Asks
	r.State, r.Cause, r.Verdict = finding.State, finding.Cause, shown(finding.Says)
	for _, e := range finding.Evidence {
		r.Evidence = append(r.Evidence, Evidence{shown(e.What), shown(e.Got)})
	}
	for _, cause := range check.Causes {
		if cause.Name == finding.Cause {
			r.Action = cause.Action
		}
	}
	if finding.Action != "" {
		r.Action = shown(finding.Action)
	}
}

// maxReported limits a text in a report, in bytes.
const maxReported = 1 << 10

// shown is a text for a report: programs and servers have written parts of it, and may have written secrets.
func shown(text string) string { return redact.Line(text, maxReported) }

// report concludes: one wrong check makes a machine sick, and one that could not look leaves its health unknown, as if
// none had looked.
func report(results []Result, p *Patient) *Report {
	r := &Report{SchemaVersion: 1, Time: p.Now().UTC(), Health: NotKnown, Checks: results}
	seen := make(map[State]bool)
	for i := range results {
		seen[results[i].State] = true
	}
	switch {
	case seen[Wrong]:
		r.Health = Sick
	case seen[Fine] && !seen[Unknown]:
		r.Health = Healthy
	}
	return r
}

// Wrong are the results that are wrong, the first cause first.
func (r *Report) Wrong() []Result {
	var wrong []Result
	for _, result := range r.Checks {
		if result.State == Wrong {
			wrong = append(wrong, result)
		}
	}
	return wrong
}
