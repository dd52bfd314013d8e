package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

// Error says why a file could not be brought.
type Error struct {
	// Cause is that of the place that got furthest.
	Cause Cause
	// From is that place, without a password and a query.
	From string
	// Err is what is wrong with it, or the errors of all places that were asked (errors.Join), each an *Error.
	Err error
}

// maxShown is how many bytes of a problem are shown.
const maxShown = 512

// Error names each place that was asked, and what is wrong with it. It is one line.
func (e *Error) Error() string {
	if all, several := e.Err.(interface{ Unwrap() []error }); several {
		var texts []string
		for _, err := range all.Unwrap() {
			texts = append(texts, err.Error())
		}
		return strings.Join(texts, "; ")
	}
	return e.From + ": " + redact.Line(e.Err.Error(), maxShown)
}

// Unwrap gives what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// joined is one error of several. ended is the end of the caller's time, if that was it.
func joined(all []*Error, ended error) error {
	best := &Error{Cause: Unreachable}
	if len(all) > 0 {
		best = slices.MinFunc(all, func(a, b *Error) int {
			return cmp.Compare(slices.Index(causes, a.Cause), slices.Index(causes, b.Cause))
		})
	}
	if len(all) == 1 && ended == nil {
		return best
	}
	var errs []error
	for _, e := range all {
		errs = append(errs, e)
	}
	if ended != nil {
		errs = append(errs, ended)
	}
	return &Error{Cause: best.Cause, From: best.From, Err: errors.Join(errs...)}
}

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

// ownFailure is a problem with the file on this machine.
func ownFailure(err error) *failure { return &failure{err: err} }

// unanswered says why there is no answer.
func unanswered(ctx context.Context, err error) *failure {
	var refused *redirectError
	var certificate *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &refused):
		return failed(WrongContent, "%w", refused)
	case errors.Is(context.Cause(ctx), errSilent):
		return failed(Unreachable, "%w", errSilent).retried()
	case errors.As(err, &certificate) && !(errors.As(err, &invalid) && invalid.Reason == x509.Expired):
		// Whether a certificate is valid now depends on the machine's clock, which may be set a moment later.
		return failed(Unreachable, "%w", err)
	}
	return failed(Unreachable, "%w", err).retried()
}

// interrupted says why there is no more of an answer.
func interrupted(ctx context.Context, err error) *failure {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return failed(WrongContent, "the connection was closed in the middle of the answer: %w", err).retried()
	}
	return unanswered(ctx, err)
}
