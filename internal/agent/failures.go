package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// exitCodeOf is the exit code of a run that ended with err. Where time ran out while something else
// had failed for a reason of its own, that reason is the answer.
func exitCodeOf(err error) int {
	if _, asked := errors.AsType[askedError](err); asked {
		return exitcode.Interrupted // what was waited for just then is no answer
	}
	for _, single := range split(err) {
		var failed *apply.Error
		if errors.As(single, &failed) && failed.ExitCode != 0 && !cutShort(single) {
			return failed.ExitCode
		}
	}
	if errors.Is(err, errTimeout) {
		return exitcode.Timeout
	}
	if !slices.ContainsFunc(split(err), func(single error) bool { return !errors.Is(single, context.Canceled) }) {
		return exitcode.Interrupted
	}
	if known, ok := errors.AsType[coded](err); ok {
		return known.code()
	}
	var first *apply.Error
	if errors.As(err, &first) && first.ExitCode != 0 {
		return first.ExitCode
	}
	return exitcode.AgentFailed
}

// askedError is a run that somebody asked to end. It is a reason of its own, and comes before what it cut short.
type askedError struct{ cause error }

func (e askedError) Error() string { return "the run was ended: " + e.cause.Error() }

// cutOff puts before the errors of a run why it ended early, where it did: its time was over, or it was asked to end.
func cutOff(ctx context.Context, timeout time.Duration, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || cause == nil:
		return err
	case errors.Is(cause, errTimeout):
		return errors.Join(fmt.Errorf("%w after %s", errTimeout, timeout), err)
	}
	return errors.Join(askedError{cause}, err)
}

// coded is an error of the agent's own that has an exit code of its own.
type coded interface {
	error
	code() int
}

// published is the exit code under which a failure is published and returned: the number that those know who have
// called the agent, and who look there.
func (a *Agent) published(code int, at place) int {
	code = profile.OfProgram(a.Called).Publication.Code(code)
	if at.family != nil {
		code = at.family.Publication.Code(code)
	}
	return code
}

// notFoundError is a contract that is not there, or cannot be read.
type notFoundError struct{ error }

func (e notFoundError) Unwrap() error { return e.error }
func (notFoundError) code() int       { return exitcode.ContractNotFound }

// cutShort reports whether something failed only because time ran out.
func cutShort(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, errTimeout)
}

// contractError is a contract that no node can be made from.
type contractError struct {
	path  string
	fatal []nodeconfig.Problem
	// exit is the exit code of what is fatal.
	exit int
}

func (e *contractError) code() int { return e.exit }

// Error names the first problem; the status lists them all.
func (e *contractError) Error() string {
	if len(e.fatal) == 1 {
		return fmt.Sprintf("contract %s cannot be used: %s: %s", e.path, e.fatal[0].Where(), e.fatal[0].Reason)
	}
	return fmt.Sprintf("contract %s cannot be used, for %d errors; the first: %s: %s",
		e.path, len(e.fatal), e.fatal[0].Where(), e.fatal[0].Reason)
}

// errorText is every error on one line, for a document that has no list of them.
func errorText(err error, all []status.Failure) string {
	var parts []string
	var contract *contractError
	if errors.As(err, &contract) {
		parts = append(parts, fmt.Sprintf("contract %s cannot be used", contract.path))
		for _, problem := range contract.fatal {
			parts = append(parts, problem.Where()+": "+problem.Reason)
		}
		return strings.Join(parts, "; ")
	}
	for i := range all {
		parts = append(parts, all[i].String())
	}
	return strings.Join(parts, "; ")
}

// definite puts what failed for a reason of its own before what was cut short.
func definite(errs []error) []error {
	var own, cut []error
	for _, err := range errs {
		if cutShort(err) {
			cut = append(cut, err)
		} else {
			own = append(own, err)
		}
	}
	return append(own, cut...)
}

// failures lists every error of a run, the first to happen first.
func failures(err error, code int) []status.Failure {
	var list []status.Failure
	for _, single := range definite(split(err)) {
		failure, code := status.Failure{Message: single.Error()}, code
		var of *apply.Error
		if errors.As(single, &of) {
			failure.Resource = string(of.Resource)
			failure.Message = of.Err.Error()
			if of.ExitCode != 0 && !errors.Is(single, context.Canceled) {
				code = of.ExitCode
			}
		}
		var check *apply.CheckError
		if errors.As(single, &check) {
			failure.Cause, failure.Endpoint = string(check.Cause), check.Endpoint
			if of == nil || of.Err == error(check) { // or else it is not all that there is to say
				failure.Message = check.Err.Error()
			}
		}
		failure.Action = action(code, failure.Cause)
		list = append(list, failure)
	}
	return list
}

// causeActions say what to do about a cause, where that is more than the exit code says: AKS has one
// code for an API server that cannot be reached, cannot be trusted, or refuses the node.
var causeActions = map[string]string{
	string(resource.CauseConnection): "allow the connection from the node's subnet to the endpoint, and check that the API server runs",
	string(resource.CauseTLS):        "compare the contract's CA with the cluster's, and check the node's clock and that nothing intercepts TLS",
	string(resource.CauseCredential): "put a new bootstrap token in the contract if the node has not joined yet: the cluster does not know the token, or it has expired",
}

// action is what to do about a failure.
func action(code int, cause string) string {
	if action, ok := causeActions[cause]; ok {
		return action
	}
	known, _ := exitcode.Lookup(code)
	return known.Action
}

// split returns the errors that were joined.
func split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, split(e)...)
	}
	return list
}
