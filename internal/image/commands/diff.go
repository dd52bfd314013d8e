package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/changes"
	"github.com/slipway-dev/slipway/internal/image/lock"
)

// comparison is the result of diff.
type comparison struct {
	A string `json:"a"`
	B string `json:"b"`
	*changes.Changes
}

func newDiff(s cli.Streams) *cobra.Command {
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "diff A B [flags]",
		Short: "Show what changes from one image to another",
		Long: `Show what changes from one image to another, like release notes: components that are new, gone, or of
another version; the same version with another digest; paths, licences, sizes, the versions of
Kubernetes that are served. A and B are both locks of images, or both their component manifests.

Exit codes are those of diff(1): 0 no difference, 1 a difference, 2 trouble; and 64 wrong usage.`,
		Example: `  slipway image diff old.lock components.lock
  slipway image diff old.json components.json -o json`,
		Args: command.Arguments(2, 2, "two locks, or two manifests"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := compare(s, args[0], args[1])
			if err != nil {
				return command.Trouble(err)
			}
			return command.Compared(command.Print(s, output.Value, c, c.Text), c.Same())
		},
	}
	command.AddOutput(cmd, &output)
	return cmd
}

func compare(s cli.Streams, a, b string) (*comparison, error) {
	if a == command.Stdin && b == command.Stdin {
		return nil, cli.Usage("put one of them in a file", "standard input can be read only once")
	}
	from, kind, err := readSide(s, a)
	if err != nil {
		return nil, err
	}
	to, other, err := readSide(s, b)
	if err != nil {
		return nil, err
	}
	if kind != other {
		return nil, fmt.Errorf("%s is %s and %s is %s: compare two of one kind", cli.Line(command.Title(a)), kind, cli.Line(command.Title(b)), other)
	}
	return &comparison{a, b, changes.Between(from, to)}, nil
}

// readSide reads a lock or a manifest.
func readSide(s cli.Streams, name string) (side changes.Side, kind string, err error) {
	data, err := command.ReadInput(s, name)
	if err != nil {
		return side, "", err
	}
	if tree, err := document.Parse(data); err == nil && tree.GetText("kind") == components.Kind {
		m, err := components.Parse(data)
		if err != nil {
			return side, "", fmt.Errorf("%s: %w", cli.Line(command.Title(name)), err)
		}
		return changes.OfManifest(&m), "a manifest", nil
	}
	l, problems := lock.Parse(data)
	return changes.OfLock(l), "a lock", refused(s, name, problems)
}
