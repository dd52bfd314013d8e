package metadata

import (
	"errors"
	"fmt"
	"time"
)

// Kind is how a question ended that was not answered.
type Kind string

// What there is to tell apart. A caller that only wants to know whether there is nothing, or something is
// broken, asks errors.Is for ErrNotFound.
const (
	// Unreachable: no connection, or one that was closed before an answer.
	Unreachable Kind = "unreachable"
	// Timeout: connected or not, no whole answer came in time.
	Timeout Kind = "timeout"
	// Status: the answer's status is neither success nor any of the others here.
	Status Kind = "status"
	// Redirect: the answer names another address, which was not asked.
	Redirect Kind = "redirect"
	// TooLarge: the answer is larger than its limit.
	TooLarge Kind = "too large"
	// Truncated: the connection was closed in the middle of the answer.
	Truncated Kind = "truncated"
	// WrongType: the answer is something else than the document that was asked for.
	WrongType Kind = "wrong type"
	// Denied: the service refuses to tell this machine, or is not who it has to be.
	Denied Kind = "denied"
	// NotFound: the service says that there is no such thing, or it is empty.
	NotFound Kind = "not found"
)

// ErrNotFound is what errors of the kind NotFound are.
var ErrNotFound = errors.New("the metadata service has no such document")

// Error says why there is no answer. It holds nothing of what was answered but the status.
type Error struct {
	// URL is what was asked, without a password.
	URL string
	// Kind is that of the last answer. A try that the caller's deadline cut short counts only if it was the
	// first.
	Kind Kind
	// Attempts is how often it was asked, 0 for what cannot be, and Took how long.
	Attempts int
	Took     time.Duration
	// Last describes the last answer: "answers 503 Service Unavailable", "connection refused".
	Last string

	// ended is the error of the caller's context, if that was the end.
	ended error
}

// Error names the URL, the last answer, and how often and how long it was asked.
func (e *Error) Error() string {
	if e.Attempts == 0 {
		return e.URL + ": " + e.Last
	}
	often := "asked once"
	if e.Attempts > 1 {
		often = fmt.Sprintf("asked %d times", e.Attempts)
	}
	return fmt.Sprintf("%s: %s (%s in %s)", e.URL, e.Last, often, e.Took.Round(time.Millisecond))
}

// Unwrap gives ErrNotFound for what is not found, and the context's error where that was the end. An error that
// is both is a service that might have settled.
func (e *Error) Unwrap() []error {
	var all []error
	if e.Kind == NotFound {
		all = append(all, ErrNotFound)
	}
	if e.ended != nil {
		all = append(all, e.ended)
	}
	return all
}

// failure is how one try ended.
type failure struct {
	url  string
	kind Kind
	// last describes it, without a byte of the answer.
	last string
	// again says that the same question may be answered another time, and settle for how long "not found"
	// is not believed.
	again  bool
	settle time.Duration
	// after is how long the service wants to be left alone.
	after time.Duration
	// unconnected says that there never was a connection, so that another address may have one.
	unconnected bool
	// unauthorized says that the token was not good.
	unauthorized bool
}

func failed(url string, kind Kind, last string) *failure {
	return &failure{url: url, kind: kind, last: last}
}

// retried is a failure that is tried again.
func (f *failure) retried() *failure {
	f.again = true
	return f
}

func (f *failure) error(attempts int, took time.Duration, ended error) *Error {
	return &Error{URL: f.url, Kind: f.kind, Attempts: attempts, Took: took, Last: f.last, ended: ended}
}
