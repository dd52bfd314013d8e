package envelope

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNone says that user data is in order, as far as it was looked at, and holds no contract.
var ErrNone = errors.New("user data holds no contract")

// NoneError is ErrNone with what there was instead.
type NoneError struct {
	// Seen are the kinds of what there was, in order, each once.
	Seen []string
}

// Error lists what there was.
func (e *NoneError) Error() string {
	if len(e.Seen) == 0 {
		return ErrNone.Error()
	}
	return ErrNone.Error() + ", only: " + strings.Join(e.Seen, "; ")
}

// Unwrap returns ErrNone.
func (e *NoneError) Unwrap() error { return ErrNone }

// LimitError says that user data, or what it becomes when it is opened, passes a limit.
type LimitError struct {
	// Where names the layer: its wrappings, outermost first, with the numbers of MIME parts.
	Where string
	// What is counted, and Limit is how much of it is allowed.
	What  string
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: more than %d %s", e.Where, e.Limit, e.What)
}

// BrokenError says that a wrapping cannot be read to its end.
type BrokenError struct {
	// Where names the layer: its wrappings, outermost first, with the numbers of MIME parts.
	Where string
	// Reason says what is wrong, in no word of the data's.
	Reason string
}

// Error says where and why.
func (e *BrokenError) Error() string { return e.Where + ": " + e.Reason }

// AmbiguousError says that user data holds several contracts that differ.
type AmbiguousError struct {
	// Parts name where they are.
	Parts []string
}

// Error lists the parts.
func (e *AmbiguousError) Error() string {
	return "user data holds contracts that differ: " + strings.Join(e.Parts, "; ")
}

// beyond is the error of a layer that passes a limit.
func (l *layer) beyond(what string, limit int) error {
	return &LimitError{Where: l.where(), What: what, Limit: limit}
}

// broken is the error of a layer that cannot be read.
func (l *layer) broken(format string, args ...any) error {
	return &BrokenError{Where: l.where(), Reason: fmt.Sprintf(format, args...)}
}
