package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Error ends a program with an exit code.
type Error struct {
	// Code is the exit code.
	Code int
	// Err is the error. It is nil if the error was already printed.
	Err error
	// Hint describes the next step in one line.
	Hint string
	// Problems are the refused document's problems, for JSON output. Their text is printed before.
	Problems []nodeconfig.Problem
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Usage is the error of a wrong command line.
func Usage(hint, format string, args ...any) *Error {
	return &Error{Code: exitcode.Usage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Quit ends the program with a code and without a message.
func Quit(code int) *Error { return &Error{Code: code} }

// Report prints the error that a program ends with and returns the exit code. The default code is exitcode.Invalid.
func Report(w io.Writer, program string, err error) int {
	if err == nil {
		return exitcode.Success
	}
	code, hint := exitcode.Invalid, ""
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Err == nil {
			return e.Code
		}
		code, hint = e.Code, e.Hint
	}
	style := StyleOf(w)
	_, _ = fmt.Fprintf(w, "%s: %s\n", style.Red(program), Clean(err.Error()))
	if hint != "" {
		_, _ = fmt.Fprintln(w, style.Dim(hint))
	}
	return code
}
