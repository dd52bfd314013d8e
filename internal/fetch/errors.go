package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Cause says why a file could not be brought.
type Cause string

// The causes, in the order in which they win where several places have failed: the further a place got, the more its
// failure says about what has to be put right.
const (
	// WrongDigest: the file is there, and is another one.
	WrongDigest Cause = "wrong digest"
	// WrongContent: what came is no such file: a page of HTML, less or more than announced or allowed, a manifest without
	// a file for this platform.
	WrongContent Cause = "wrong content"
	// Refused: the server does not give it to us (401, 403, or no token for a registry).
	Refused Cause = "refused"
	// NotFound: the server does not have it, or its place is not written as one.
	NotFound Cause = "not found"
	// Server: the server cannot give it (5xx, 429).
	Server Cause = "server error"
	// Unreachable: there is no answer (DNS, TCP, TLS, or a time-out).
	Unreachable Cause = "unreachable"
)

var causes = []Cause{WrongDigest, WrongContent, Refused, NotFound, Server, Unreachable}

// rank is a cause's place in that order.
func rank(c Cause) int { return slices.Index(causes, c) }

// Error says why a file could not be brought.
type Error struct {
	// Cause is that of the place that got furthest.
	Cause Cause
	// From is that place, without a password and a query.
	From string
	// Err has the errors of all places that were asked (errors.Join), each an *Error whose Err is what is wrong there, and
	// why no more tries were made, if some might have succeeded.
	Err error
}

// maxShown is how many bytes of a problem are shown.
const maxShown = 512

// Error names each place that was asked, and what is wrong with it. It is one line.
func (e *Error) Error() string {
	if all, several := e.Err.(interface{ Unwrap() []error }); several {
		text := ""
		for _, err := range all.Unwrap() {
			text += "; " + err.Error()
		}
		return text[2:]
	}
	return e.From + ": " + redact.Line(e.Err.Error(), maxShown)
}

// Unwrap gives what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// failure is how one try ended.
type failure struct {
	// cause is empty for a problem of this machine's own.
	cause Cause
	err   error
	// again says that a later try may succeed, and after how long the server wants to be left alone.
	again bool
	after time.Duration
	// stale says that the file was thrown away, because what it held did not fit.
	stale bool
}

func failed(cause Cause, format string, args ...any) *failure {
	return &failure{cause: cause, err: fmt.Errorf(format, args...)}
}

// retried is a failure that may pass.
func (f *failure) retried() *failure {
	f.again = true
	return f
}

// ownFailure is a problem with the file on this machine, if there is one.
func ownFailure(err error) *failure {
	if err == nil {
		return nil
	}
	return &failure{err: err}
}

// unanswered says why there is no answer, or no more of one.
func unanswered(ctx context.Context, err error) *failure {
	if errors.Is(err, errRedirect) {
		return failed(WrongContent, "%w", err)
	}
	if ended := context.Cause(ctx); ended != nil {
		err = ended
	}
	return failed(Unreachable, "%w", err).retried()
}
