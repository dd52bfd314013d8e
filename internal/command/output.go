package command

import (
	"errors"
	"io"
	"os"

	"github.com/slipway-dev/slipway/internal/cli"
)

// Write writes a document to standard output.
func Write(s cli.Streams, text string) error {
	_, err := io.WriteString(s.Out, text)
	return written(err)
}

// Print prints a result in one of the forms of [AddOutput]: as JSON, or as text.
func Print(s cli.Streams, form string, result any, text func(cli.Style) string) error {
	if form == AsJSON {
		return WriteJSON(s, result)
	}
	return Write(s, text(cli.StyleOf(s.Out)))
}

// WriteJSON writes a document to standard output as JSON.
func WriteJSON(s cli.Streams, v any) error { return written(cli.WriteJSON(s.Out, v)) }

func written(err error) error {
	if err != nil {
		return Failed("standard output: %w", Pathless(err))
	}
	return nil
}

// Pathless removes operation and path from a file error.
func Pathless(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
