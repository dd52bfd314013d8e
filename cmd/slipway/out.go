package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// addOut adds --out.
func addOut(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "out", "", "write to `FILE`, mode 0600; - is standard output")
	command.Must(cmd.MarkFlagFilename("out"))
}

// isStdout reports whether --out names standard output.
func isStdout(out string) bool { return out == "" || out == command.Stdin }

// deliver writes data with secrets to the target of --out: standard output, or a file that only its owner can read.
func deliver(s cli.Streams, out string, data []byte) error {
	if isStdout(out) {
		return command.Write(s, string(data))
	}
	if err := command.WriteFile(out, data, command.Private); err != nil {
		return command.Failed("%w", err)
	}
	_, _ = fmt.Fprintf(s.Err, "wrote %s, %d bytes; only its owner can read it\n", cli.Line(out), len(data))
	return nil
}

// deliverJSON delivers a document as JSON.
func deliverJSON(s cli.Streams, out string, document any) error {
	var data bytes.Buffer
	if err := cli.WriteJSON(&data, document); err != nil {
		return command.Failed("%w", err)
	}
	return deliver(s, out, data.Bytes())
}
