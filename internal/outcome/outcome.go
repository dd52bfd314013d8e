// Package outcome is a run's outcome: the account of its work, and its result from the final error: the exit code, and
// each failure with its cause and advice.
//
// It does no I/O, has no clock and publishes nothing: the same run has the same outcome. The stages of a run and
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

// Account is what a run has done so far. It grows while the run works, and is all that remains of a run that dies.
type Account struct {
	// Status is what is known so far. Conclude adds the result.
	Status status.Status
	// Cloud is the cloud of the machine, one of [facts.Azure] and the like, once that is known. Advice is for it.
	Cloud string
	// Output is the output of the plan's commands.
	Output []byte
	// Verdict is why the run has failed, if the doctor has found that. The run's own errors follow it in the result.
	Verdict *status.Failure
}

// Begin is the account of a run that begins.
func Begin(version string, at time.Time) *Account {
	return &Account{Status: status.Status{AgentVersion: version, StartedAt: at}}
}

// The agent's steps. Each step waits for the one before.
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
	StepExamine          = "look for the reason"
)

var ownSteps = []string{StepFacts, StepFind, StepBase, StepDecode, StepAddress, StepMetadata, StepAuthorities, StepClusterAuthority, StepPlan, StepLock, StepExamine}

// Step adds a step to the timeline.
func (a *Account) Step(name string, begin, end time.Time) {
	a.Status.Steps = append(a.Status.Steps, status.Step{
		Name: name, StartMs: begin.Sub(a.Status.StartedAt).Milliseconds(), DurationMs: end.Sub(begin).Milliseconds(),
	})
}

// Applied adds the engine's report.
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
		s.Warnings = append(s.Warnings, failures(err, Code(err), a.Cloud)...)
	}
	for _, id := range report.Skipped {
		s.Skipped = append(s.Skipped, string(id))
	}
}

// critical is the agent's steps, which run one after another, followed by the engine's critical path.
func (a *Account) critical(engine []string) []string {
	var way []string
	for _, step := range a.Status.Steps {
		if slices.Contains(ownSteps, step.Name) && step.DurationMs > 0 {
			way = append(way, step.Name)
		}
	}
	return append(way, engine...)
}

// Result is the outcome of a run.
type Result struct {
	Account
	// Text is everything that went wrong, in one line. It is empty for a success.
	Text string
	// Err is the error that the run ended with, or nil.
	Err error
}

// Conclude returns the result of a run that ends with an error or with nil. published converts the code of a failure to
// the number that readers of the result know.
func (a *Account) Conclude(err error, at time.Time, published func(code int) int) Result {
	r := Result{Account: *a, Err: err}
	s := &r.Status
	s.FinishedAt = at
	s.DurationMs = s.FinishedAt.Sub(s.StartedAt).Milliseconds()
	s.Outcome, s.ExitCode = status.OutcomeSuccess, exitcode.Success
	if err != nil {
		code := Code(err)
		s.Outcome, s.ExitCode = status.OutcomeFailure, published(code)
		s.Errors = append(failures(err, code, a.Cloud), s.Warnings...) // they may have caused the failure after all
		s.Warnings = nil
		if a.Verdict != nil {
			s.Errors = append([]status.Failure{*a.Verdict}, s.Errors...)
		}
		s.Error = &s.Errors[0]
		r.Text = text(err, s.Errors)
	}
	if code, ok := exitcode.Lookup(s.ExitCode); ok {
		s.CodeName = code.Name
	}
	return r
}

// Succeeded reports whether the run succeeded.
func (r *Result) Succeeded() bool { return r.Status.ExitCode == exitcode.Success }

// Log writes that the run has ended, and its result.
func (r *Result) Log(log *slog.Logger) {
	level := slog.LevelInfo
	if _, refused := errors.AsType[Refusal](r.Err); refused {
		level = slog.LevelDebug // the caller gets the reason, and nothing was done
	}
	s := &r.Status
	log.Log(context.Background(), level, "done", "outcome", s.Outcome, "exitCode", s.ExitCode, "changes", len(s.Changes),
		"unchanged", s.Unchanged, "durationMs", s.DurationMs, "error", r.Err)
}
