package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Cause is why a download failed.
type Cause string

// The causes, in the order in which they win if several sources have failed: the further a source got, the more its
// failure shows what must be corrected.
const (
	// WrongDigest: the source has the file, but with another digest.
	WrongDigest Cause = "wrong digest"
	// WrongContent: the answer is not such a file: an HTML page, less or more than announced or allowed, a manifest
	// without a file for this platform.
	WrongContent Cause = "wrong content"
	// Refused: the server denies access (401, 403, or no token for a registry).
	Refused Cause = "refused"
	// NotFound: the server does not have the file, or the source's text is invalid.
	NotFound Cause = "not found"
	// Server: the server has an error (5xx, 429).
	Server Cause = "server error"
	// Unreachable: there is no answer (DNS, TCP, TLS, or a timeout).
	Unreachable Cause = "unreachable"
)

var causes = []Cause{WrongDigest, WrongContent, Refused, NotFound, Server, Unreachable}

// rank is a cause's position in that order.
func rank(c Cause) int { return slices.Index(causes, c) }

// Error is why a download failed.
type Error struct {
	// Cause is the cause of the source that got furthest.
	Cause Cause
	// From is that source, without a password and a query.
	From string
	// Err has the errors of all tried sources (errors.Join), each an *Error whose Err is that source's problem, and why
	// no more tries were made, if some might have succeeded.
	Err error
}

// maxShown is how many bytes of a problem are shown.
const maxShown = 512

// Error names each tried source and its problem, in one line.
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

// Unwrap returns the problems.
func (e *Error) Unwrap() error { return e.Err }

// failure is how one try ended.
type failure struct {
	// cause is empty for a problem of this machine.
	cause Cause
	err   error
	// again reports whether a later try may succeed; after is the pause that the server requests.
	again bool
	after time.Duration
	// stale reports that the file was discarded because its content did not match.
	stale bool
}

func failed(cause Cause, format string, args ...any) *failure {
	return &failure{cause: cause, err: fmt.Errorf(format, args...)}
}

// retried is a failure that may be temporary.
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

// unanswered is the failure of an answer that is missing or incomplete.
func unanswered(ctx context.Context, err error) *failure {
	if errors.Is(err, errRedirect) {
		return failed(WrongContent, "%w", err)
	}
	if ended := context.Cause(ctx); ended != nil {
		err = ended
	}
	return failed(Unreachable, "%w", err).retried()
}
