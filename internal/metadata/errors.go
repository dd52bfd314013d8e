package metadata

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the failure of a request.
type Kind string

// The kinds. A caller that only needs to distinguish "there is nothing" from a real problem checks errors.Is for
// ErrNotFound.
const (
	// Unreachable: no connection, or it was closed before an answer.
	Unreachable Kind = "unreachable"
	// Timeout: no complete answer came in time.
	Timeout Kind = "timeout"
	// Status: the answer's status is neither a success nor any of the others here.
	Status Kind = "status"
	// Redirect: the answer names another address, which was not requested.
	Redirect Kind = "redirect"
	// TooLarge: the answer is larger than its limit.
	TooLarge Kind = "too large"
	// Truncated: the connection was closed in the middle of the answer.
	Truncated Kind = "truncated"
	// WrongType: the answer is not the requested document.
	WrongType Kind = "wrong type"
	// Denied: the service denies access to this machine, or is not the expected server.
	Denied Kind = "denied"
	// NotFound: the service answers that there is no such document, or it is empty.
	NotFound Kind = "not found"
)

// ErrNotFound is the error of the kind NotFound.
var ErrNotFound = errors.New("the metadata service has no such document")

// Error is why there is no answer. It holds nothing of the answer except its status.
type Error struct {
	// URL is the requested URL, without a password.
	URL string
	// Kind is the kind of the last answer. A try that the caller's deadline cut short counts only if it was the first.
	Kind Kind
	// Attempts is the number of requests, 0 if none was possible, and Took their duration.
	Attempts int
	Took     time.Duration
	// Last describes the last answer: "answers 503 Service Unavailable", "connection refused".
	Last string
	// Connected reports that the last request had a connection.
	Connected bool

	// ended is the error of the caller's context, if that was the end.
	ended error
}

// Error names the URL, the last answer, and the number and duration of the requests.
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

// Unwrap returns ErrNotFound for the kind NotFound, and the context's error if that ended the request. An error that is
// both is from a service that might have answered differently later.
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

// failure is the result of a failed try.
type failure struct {
	url  string
	kind Kind
	// last describes the answer, without a byte of it.
	last string
	// again reports that the same request may have another answer later, and settle is how long "not found" counts as
	// temporary.
	again  bool
	settle time.Duration
	// after is the pause that the service requests.
	after time.Duration
	// unconnected reports that there never was a connection, so that another address may have one.
	unconnected bool
	// unauthorized reports that the token was not valid.
	unauthorized bool
}

//go:noinline
func failed(url string, kind Kind, last string) *failure {
	return &failure{url: url, kind: kind, last: last}
}

// retried is a failure after which the request is repeated.
func (f *failure) retried() *failure {
	f.again = true
	return f
}

func (f *failure) error(attempts int, took time.Duration, ended error) *Error {
	return &Error{URL: f.url, Kind: f.kind, Attempts: attempts, Took: took, Last: f.last, Connected: !f.unconnected, ended: ended}
}
