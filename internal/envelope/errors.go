package envelope

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNone means that user data is valid, as far as it was read, and holds no contract.
var ErrNone = errors.New("user data holds no contract")

// NoneError is ErrNone with the other content.
type NoneError struct {
	// Seen are the kinds of the content, in order, each once.
	Seen []string
}

// Error lists the content.
func (e *NoneError) Error() string {
	if len(e.Seen) == 0 {
		return ErrNone.Error()
	}
	return ErrNone.Error() + ", only: " + strings.Join(e.Seen, "; ")
}

// Unwrap returns ErrNone.
func (e *NoneError) Unwrap() error { return ErrNone }

// LimitError means that user data, or its decoded form, exceeds a limit.
type LimitError struct {
	// Where names the layer: its wrappings, outermost first, with the numbers of MIME parts.
	Where string
	// What is counted, and Limit is the maximum.
	What  string
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: more than %d %s", e.Where, e.Limit, e.What)
}

// BrokenError means that a wrapping cannot be read completely.
type BrokenError struct {
	// Where names the layer: its wrappings, outermost first, with the numbers of MIME parts.
	Where string
	// Reason describes the problem, without any of the data.
	Reason string
}

// Error has the location and the reason.
func (e *BrokenError) Error() string { return e.Where + ": " + e.Reason }

// AmbiguousError means that user data holds several different contracts.
type AmbiguousError struct {
	// Parts are their locations.
	Parts []string
}

// Error lists the parts.
func (e *AmbiguousError) Error() string {
	return "user data holds contracts that differ: " + strings.Join(e.Parts, "; ")
}

// beyond is the error of a layer that exceeds a limit.
func (l *layer) beyond(what string, limit int) error {
	return &LimitError{Where: l.where(), What: what, Limit: limit}
}

// broken is the error of a layer that cannot be read.
func (l *layer) broken(format string, args ...any) error {
	return &BrokenError{Where: l.where(), Reason: fmt.Sprintf(format, args...)}
}
