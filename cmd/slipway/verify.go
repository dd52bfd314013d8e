package main

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// verification is what verify finds.
type verification struct {
	Bundle  string `json:"bundle"`
	Root    string `json:"root"`
	Digest  string `json:"digest"`
	Config  string `json:"config"`
	Entries int    `json:"entries"`
	// Differences are those of the tree, Changed those of the bundle itself.
	Differences []bundle.Difference `json:"differences"`
	Changed     []bundle.Difference `json:"changed,omitempty"`
}

func newVerify(s cli.Streams) *cobra.Command {
	var (
		output command.Choice
		digest string
	)
	cmd := &cobra.Command{
		Use:   "verify BUNDLE ROOT [flags]",
		Short: "Compare a machine with what was rendered for it",
		Long: `Compare a machine, or a directory with its files, with a bundle that "slipway render --agentless
--to bundle" wrote. Every file, directory and link of the bundle is compared: type, mode, owner,
content, target. In the directories of drop-ins that the bundle has, anything else is a difference,
too. No content is shown. Owners are not compared in a directory that is not the superuser's.

The credential that a node joins with may be gone: it is removed when the kubelet has its own.

The digest names everything in the bundle. "slipway render" prints it; with --digest, a bundle with
another one is refused.

Exit codes: 0 no difference, 1 a difference or an error, 64 wrong usage.`,
		Example: `  slipway verify node-bundle /
  slipway verify --digest sha256:9f2c... node-bundle /mnt/node-disk`,
		Args: command.Arguments(2, 2, "a bundle and a root"),
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := verify(args[0], args[1], digest)
			if err != nil {
				return &cli.Error{Code: exitcode.Invalid, Err: err}
			}
			err = command.Print(s, output.Value, v, v.text)
			if err == nil && len(v.Differences)+len(v.Changed) > 0 {
				err = cli.Quit(exitDiffer)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "refuse a bundle with another `DIGEST`")
	command.AddOutput(cmd, &output)
	return cmd
}

// verify compares a root with a bundle.
func verify(dir, root, digest string) (*verification, error) {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the bundle: %w", err)
	}
	defer from.Close()
	m, err := bundle.Read(from.FS())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cli.Line(dir), err)
	}
	if digest != "" && digest != m.Digest {
		return nil, fmt.Errorf("%s has the digest %s, and not the one of --digest", cli.Line(dir), m.Digest)
	}
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("the root: %w", err)
	}
	defer tree.Close()
	info, err := tree.Stat(".")
	if err != nil {
		return nil, fmt.Errorf("the root: %w", err)
	}
	// A root that is not the superuser's is no machine's: another user has made that directory.
	superuser, ok := info.Sys().(*syscall.Stat_t)
	compared := ok && superuser.Uid == 0
	owner := func(info fs.FileInfo) (uid, gid int, ok bool) {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !compared {
			return 0, 0, false
		}
		return int(stat.Uid), int(stat.Gid), true
	}
	return &verification{dir, root, m.Digest, m.Config, len(m.Entries), m.Verify(tree.FS(), owner), m.Self(from.FS())}, nil
}

// text is the result for people.
func (v *verification) text(style cli.Style) string {
	if len(v.Differences)+len(v.Changed) == 0 {
		return style.Green("same") + fmt.Sprintf(": %s of %s, config %s\n", cli.Plural(v.Entries, "entry"), cli.Line(v.Bundle), v.Config)
	}
	table := cli.Table{Indent: "  "}
	for _, d := range v.Changed {
		table.Row(cli.Cell{Text: v.Bundle + "/" + d.Path, Paint: style.Red}, cli.Cell{Text: d.What + " since the bundle was written"})
	}
	for _, d := range v.Differences {
		table.Row(cli.Cell{Text: d.Path, Paint: style.Yellow}, cli.Cell{Text: d.What})
	}
	return table.String() + fmt.Sprintf("\n%s of %s\n", cli.Plural(len(v.Differences)+len(v.Changed), "difference"), cli.Plural(v.Entries, "entry"))
}
