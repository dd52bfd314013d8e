// Package outcome is what came of a run: what it has done so far, and what it ends with, from the error that it ended
// with: the exit code, each failure with its cause and what to do about it.
//
// It does no I/O, has no clock and publishes nothing: it is the same for the same run. The stages of a run and
// internal/agent call it, and internal/publish publishes its results.
package outcome

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/status"
)

// Account is what a run has done so far. It grows while the run works, and is all that there is of one that ends in
// the middle.
type Account struct {
	// Status is what is known by now. Conclude adds what the run ends with.
	Status status.Status
	// Output is what the commands of the plan have printed.
	Output []byte
}

// Begin is the account of a run that begins.
func Begin(version string, at time.Time) *Account {
	return &Account{Status: status.Status{AgentVersion: version, StartedAt: at}}
}

// The agent's own steps. What comes after one of them waits for it.
const (
	StepFacts            = "gather facts"
	StepFind             = "find contract"
	StepBase             = "wait for base"
	StepDecode           = "decode"
	StepAddress          = "wait for address"
	StepMetadata         = "ask for metadata"
	StepAuthorities      = "ask for certificates"
	StepClusterAuthority = "find the cluster's CA"
	StepPlan             = "plan"
	StepLock             = "lock"
)

var ownSteps = []string{StepFacts, StepFind, StepBase, StepDecode, StepAddress, StepMetadata, StepAuthorities, StepClusterAuthority, StepPlan, StepLock}

// Step adds a step to the timeline.
func (a *Account) Step(name string, begin, end time.Time) {
	a.Status.Steps = append(a.Status.Steps, status.Step{
		Name: name, StartMs: begin.Sub(a.Status.StartedAt).Milliseconds(), DurationMs: end.Sub(begin).Milliseconds(),
	})
}

// Applied adds what the engine has done.
func (a *Account) Applied(report *apply.Report) {
	s := &a.Status
	s.Unchanged += report.Unchanged
	a.Output = append(a.Output, report.Output...)
	for _, change := range report.Changes {
		s.Changes = append(s.Changes, status.Change{ID: string(change.ID), Action: change.Action})
	}
	for _, step := range report.Steps {
		a.Step(step.Name, step.Start, step.Start.Add(step.Duration))
		s.Steps[len(s.Steps)-1].Detail = step.Detail
	}
	if report.Critical != nil {
		s.CriticalPath = a.critical(report.Critical)
	}
	for _, err := range report.Advice {
		s.Warnings = append(s.Warnings, failures(err, Code(err))...)
	}
	for _, id := range report.Skipped {
		s.Skipped = append(s.Skipped, string(id))
	}
}

// critical is the engine's critical path after the agent's own, which is all that it did before: one thing
// after the other.
func (a *Account) critical(engine []string) []string {
	var way []string
	for _, step := range a.Status.Steps {
		if slices.Contains(ownSteps, step.Name) && step.DurationMs > 0 {
			way = append(way, step.Name)
		}
	}
	return append(way, engine...)
}

// Result is what came of a run.
type Result struct {
	Account
	// Text is all that went wrong, on one line; empty for a success.
	Text string
	// Err is the error that the run ended with, nil for none.
	Err error
}

// Conclude is what comes of a run that ends with an error, or with none. The code of a failure is the one by which
// those who read the result know it.
func (a *Account) Conclude(err error, at time.Time, published func(code int) int) Result {
	r := Result{Account: *a, Err: err}
	s := &r.Status
	s.FinishedAt = at
	s.DurationMs = s.FinishedAt.Sub(s.StartedAt).Milliseconds()
	s.Outcome, s.ExitCode = status.OutcomeSuccess, exitcode.Success
	if err != nil {
		code := Code(err)
		s.Outcome, s.ExitCode = status.OutcomeFailure, published(code)
		s.Errors = append(failures(err, code), s.Warnings...) // the node did not do without, after all
		s.Warnings = nil
		s.Error = &s.Errors[0]
		r.Text = text(err, s.Errors)
	}
	if code, ok := exitcode.Lookup(s.ExitCode); ok {
		s.CodeName = code.Name
	}
	return r
}

// Succeeded reports whether the run has.
func (r *Result) Succeeded() bool { return r.Status.ExitCode == exitcode.Success }

// Log writes that the run is done, and what came of it.
func (r *Result) Log(log *slog.Logger) {
	level := slog.LevelInfo
	if _, refused := errors.AsType[Refusal](r.Err); refused {
		level = slog.LevelDebug // whoever asked is told why, and nothing was done
	}
	s := &r.Status
	log.Log(context.Background(), level, "done", "outcome", s.Outcome, "exitCode", s.ExitCode, "changes", len(s.Changes),
		"unchanged", s.Unchanged, "durationMs", s.DurationMs, "error", r.Err)
}
