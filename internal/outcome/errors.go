package outcome

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// coded is an error of the agent's own that has an exit code of its own.
type coded interface {
	error
	exitCode() int
}

// ErrTimeout says that the run as a whole took too long.
var ErrTimeout = errors.New("provisioning timed out")

// askedError is a run that somebody asked to end. It is a reason of its own, and comes before what it cut short.
type askedError struct{ cause error }

func (e askedError) Error() string { return "the run was ended: " + e.cause.Error() }

// CutOff puts before the errors of a run why it ended early, where it did: its time was over, or it was asked to end.
func CutOff(ctx context.Context, timeout time.Duration, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || cause == nil:
		return err
	case errors.Is(cause, ErrTimeout):
		return errors.Join(fmt.Errorf("%w after %s", ErrTimeout, timeout), err)
	}
	return errors.Join(askedError{cause}, err)
}

// NotFoundError is a contract that is not there, or cannot be read.
type NotFoundError struct{ Cause error }

func (e NotFoundError) Error() string { return e.Cause.Error() }
func (e NotFoundError) Unwrap() error { return e.Cause }
func (NotFoundError) exitCode() int   { return exitcode.ContractNotFound }

// UnusableError is a contract that no node can be made from.
type UnusableError struct {
	Path  string
	Fatal []nodeconfig.Problem
	// ExitCode is the code of what is fatal.
	ExitCode int
}

func (e *UnusableError) exitCode() int { return e.ExitCode }

// Error names the first problem; the status lists them all.
func (e *UnusableError) Error() string {
	if len(e.Fatal) == 1 {
		return fmt.Sprintf("contract %s cannot be used: %s: %s", e.Path, e.Fatal[0].Where(), e.Fatal[0].Reason)
	}
	return fmt.Sprintf("contract %s cannot be used, for %d errors; the first: %s: %s",
		e.Path, len(e.Fatal), e.Fatal[0].Where(), e.Fatal[0].Reason)
}

// Refusal is why nothing is done, and the exit code that says so.
type Refusal struct {
	Why      string
	ExitCode int
}

func (r Refusal) Error() string { return "refused: " + r.Why }
func (r Refusal) exitCode() int { return r.ExitCode }

// Refused is a refusal to do what was asked for.
func Refused(format string, args ...any) error {
	return Refusal{fmt.Sprintf(format, args...), exitcode.Invalid}
}
