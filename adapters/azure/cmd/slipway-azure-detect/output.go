package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// standardOutput is the name of standard output.
const standardOutput = "-"

// output is where a document goes, and whether it must be complete.
type output struct {
	file    string
	partial bool
}

// add adds the flags.
func (o *output) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "out", standardOutput, "write to `FILE`; - is standard output")
	cmd.Flags().BoolVar(&o.partial, "partial", false, "write what was found although something is missing")
	command.Must(cmd.MarkFlagFilename("out", "json"))
}

// write writes a document. After an error, which may be several, it writes nothing, unless a partial document is enough and is not
// empty: an empty one would replace a good one. The document contains no secret, so all users may read the file.
func (o *output) write(s cli.Streams, document any, empty bool, err error) error {
	wrong := flat(err)
	style, severity := cli.StyleOf(s.Err), "error"
	paint := style.Red
	enough := o.partial && !empty
	if enough {
		severity, paint = "warning", style.Yellow
	}
	for _, e := range wrong {
		_, _ = fmt.Fprintf(s.Err, "%s: %s\n", paint(severity), cli.Line(e.Error()))
	}
	if len(wrong) > 0 && !enough {
		refused := &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("nothing is written: %s", cli.Plural(len(wrong), "error"))}
		if !empty {
			refused.Hint = "--partial writes what was found"
		}
		return refused
	}
	if o.file == standardOutput {
		return command.WriteJSON(s, document)
	}
	var data bytes.Buffer
	if err := cli.WriteJSON(&data, document); err != nil {
		return command.Failed("%w", err)
	}
	if err := command.WriteFile(o.file, data.Bytes(), command.Public); err != nil {
		return command.Failed("%w", err)
	}
	return nil
}

// flat splits a joined error, recursively.
func flat(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flat(e)...)
	}
	return all
}
