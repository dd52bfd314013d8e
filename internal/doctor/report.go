package doctor

import "time"

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
	Asks  string `json:"asks"`
	State State  `json:"state"`
	Cause string `json:"cause,omitempty"`
	// Verdict is one sentence: what was found, and how.
	Verdict string `json:"verdict"`
	// Action is the next step, if the state is wrong.
	Action string `json:"action,omitempty"`
	// Because is the name of the check that is wrong, if this one was not looked at for that.
	Because  string     `json:"because,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

func (r *Result) fill(check *Check, finding Finding) {
	r.Check, r.Asks = check.Name, check.Asks
	r.State, r.Cause, r.Verdict, r.Evidence = finding.State, finding.Cause, finding.Says, finding.Evidence
	for _, cause := range check.Causes {
		if cause.Name == finding.Cause {
			r.Action = cause.Action
		}
	}
}

// report concludes: one wrong check makes a machine sick, and one that could not look leaves its health unknown.
func report(results []Result, p *Patient) *Report {
	r := &Report{SchemaVersion: 1, Time: p.Now().UTC(), Health: Healthy, Checks: results}
	for _, result := range results {
		switch {
		case result.State == Wrong:
			r.Health = Sick
		case result.State == Unknown && r.Health == Healthy:
			r.Health = NotKnown
		}
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
