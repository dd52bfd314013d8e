package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// result is what a run of the command has printed.
type result struct {
	code     int
	out, err string
}

// runHere runs the command in the test's process.
func runHere(args ...string) result {
	var out, errOut bytes.Buffer
	program := func(s cli.Streams) *cobra.Command {
		root := &cobra.Command{Use: "slipway"}
		root.AddCommand(New(s))
		command.Prepare(root, s)
		return root
	}
	code := command.Run(context.Background(), program, append([]string{"anatomy"}, args...), cli.Streams{In: new(bytes.Buffer), Out: &out, Err: &errOut})
	return result{code, out.String(), errOut.String()}
}

// writeFile writes a file for a test and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
