package outcome

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// coded is an error of the agent with a specific exit code.
type coded interface {
	error
	exitCode() int
}

// ErrTimeout means that the run as a whole took too long.
var ErrTimeout = errors.New("provisioning timed out")

// askedError is a run that a signal asked to end. It is a separate reason, and has priority over what it cut short.
type askedError struct{ cause error }

func (e askedError) Error() string { return "the run was ended: " + e.cause.Error() }

// CutOff adds before a run's errors why it ended early, if it did: the timeout, or a signal.
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

// NotFoundError is a contract that is missing or cannot be read.
type NotFoundError struct{ Cause error }

func (e NotFoundError) Error() string { return e.Cause.Error() }
func (e NotFoundError) Unwrap() error { return e.Cause }
func (NotFoundError) exitCode() int   { return exitcode.ContractNotFound }

// UnusableError is a contract that cannot make a node.
type UnusableError struct {
	Path  string
	Fatal []nodeconfig.Problem
	// ExitCode is the code of the fatal problem.
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

// Refusal is why the agent does nothing, with its exit code.
type Refusal struct {
	Why      string
	ExitCode int
}

func (r Refusal) Error() string { return "refused: " + r.Why }
func (r Refusal) exitCode() int { return r.ExitCode }

// Refused is a refusal of a request.
func Refused(format string, args ...any) error {
	return Refusal{fmt.Sprintf(format, args...), exitcode.Invalid}
}
