package command

import (
	"errors"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
)

// The exit codes of commands that compare; they equal those of diff(1).
const (
	Differs = 1
	trouble = 2
)

// Compared is the result of a command that has printed a comparison, or could not print it.
func Compared(err error, same bool) error {
	switch {
	case err != nil:
		return Trouble(err)
	case same:
		return nil
	}
	return cli.Quit(Differs)
}

// Trouble gives an error diff's code for errors. A wrong command line has the same code everywhere.
func Trouble(err error) error {
	if e, ok := errors.AsType[*cli.Error](err); ok {
		if e.Code == exitcode.Usage {
			return e
		}
		return &cli.Error{Code: trouble, Err: e.Err, Hint: e.Hint, Problems: e.Problems}
	}
	return &cli.Error{Code: trouble, Err: err}
}
