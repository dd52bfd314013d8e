package commands

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/disk"
	"github.com/slipway-dev/slipway/internal/image/residue"
)

// examined is the result of check.
type examined struct {
	Image string `json:"image"`
	*residue.Report
}

func newCheck(s cli.Streams) *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "check IMAGE [flags]",
		Short: "Find what an image must not have",
		Long: `Find what an image must not have, because all its machines would share it: machine IDs, SSH keys,
passwords, states of cloud-init and of guest agents, leases, credentials in files, what a node or a
control plane has left, histories, logs. And what it must have, such as the agent's units enabled.

IMAGE is a directory with the image's files, or the file of an image: raw, a fixed VHD or qcow2, with
an ext4 root. The check needs no privilege for a file. It changes nothing, and shows no content.

Exit codes: 0 no error was found, 1 one was found, 2 the image could not be read, 64 wrong usage. A
warning is no error.`,
		Example: `  slipway image check node.raw
  slipway image check node.qcow2
  slipway image check image -o json`,
		Args: command.Arguments(1, 1, "a directory or an image"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := check(cmd, args[0])
			if err != nil {
				return command.Trouble(err)
			}
			return command.Compared(command.Print(s, output.Value, c, c.text), !c.Failed())
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

func check(cmd *cobra.Command, name string) (*examined, error) {
	tree, closer, err := openImage(name)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	report, err := residue.Check(cmd.Context(), tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cli.Line(name), err)
	}
	return &examined{name, report}, nil
}

// openImage opens a directory or an image.
func openImage(name string) (fs.FS, io.Closer, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, nil, err
		}
		return root.FS(), root, nil
	}
	tree, err := disk.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return tree, tree, nil
}

// shownPaths is how many paths of a finding people see.
const shownPaths = 3

// text is the result for people.
func (c *examined) text(style cli.Style) string {
	var out strings.Builder
	count := map[residue.Severity]int{}
	for _, f := range c.Findings {
		count[f.Severity]++
		paint := style.Yellow
		if f.Severity == residue.Error {
			paint = style.Red
		}
		fmt.Fprintf(&out, "%s: %s\n", paint(string(f.Severity)), style.Bold(f.Rule))
		for _, path := range f.Paths[:min(len(f.Paths), shownPaths)] {
			fmt.Fprintf(&out, "  %s\n", cli.Line(path))
		}
		if more := len(f.Paths) - shownPaths; more > 0 {
			fmt.Fprintf(&out, "  and %s, which -o json lists\n", cli.Plural(more, "more file"))
		}
		for _, text := range []string{f.Reason, "to mend it: " + f.Mend} {
			for _, line := range cli.Wrap(text, style.Width()-4) {
				fmt.Fprintf(&out, "    %s\n", style.Dim(line))
			}
		}
	}
	verdict := "has nothing that it must not have"
	if len(c.Findings) > 0 {
		verdict = "has " + cli.Plural(count[residue.Error], "error") + " and " + cli.Plural(count[residue.Warning], "warning")
	}
	fmt.Fprintf(&out, "%s %s: %s, and the contents of %d\n", cli.Line(c.Image), verdict, cli.Plural(c.Files, "file"), c.Read)
	return out.String()
}
