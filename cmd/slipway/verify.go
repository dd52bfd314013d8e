//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// verification is the result of verify.
type verification struct {
	Bundle  string `json:"bundle"`
	Root    string `json:"root"`
	Digest  string `json:"digest"`
	Config  string `json:"config"`
	Entries int    `json:"entries"`
	// Differences are the differences of the tree, Changed those of the bundle itself.
	Differences []bundle.Difference `json:"differences"`
	Changed     []bundle.Difference `json:"changed,omitempty"`
	// Noted is what the cluster's add-ons have brought, and no difference.
	Noted []bundle.Difference `json:"noted,omitempty"`
}

func newVerify(s cli.Streams) *cobra.Command {
	var (
		output command.Choice
		digest string
		image  string
	)
	cmd := &cobra.Command{
		Use:   "verify BUNDLE ROOT [flags]",
		Short: "Compare a machine with what was rendered for it",
		Long: `Compare a machine, or a directory with its files, with a bundle that "slipway render --agentless
--to bundle" wrote. Every file, directory and link of the bundle is compared: type, mode, owner,
content, target. What is not of the bundle and changes what the node runs is a difference, too:
drop-ins, masks and names of its units, static pods, settings of registries, programs that are not
those of the image's manifest, file capabilities. No content is shown. Owners are not compared in a
directory that is not the superuser's.

The image may have such files as well. With --image, the directory with the image's own files, those
are no difference, and more is compared. What the cluster's add-ons bring, such as a network's
configuration, is noted, and is no difference.

The credential that a node joins with may be gone: it is removed when the kubelet has its own.

The digest names everything in the bundle. "slipway render" prints it; with --digest, a bundle with
another one is refused.

Exit codes: 0 no difference, 1 a difference or an error, 64 wrong usage.`,
		Example: `  slipway verify node-bundle /
  slipway verify --digest sha256:9f2c... node-bundle /mnt/node-disk
  slipway verify --image /mnt/image node-bundle /mnt/node-disk`,
		Args: command.Arguments(2, 2, "a bundle and a root"),
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := verify(args[0], args[1], digest, image)
			if err != nil {
				return &cli.Error{Code: exitcode.Invalid, Err: err}
			}
			err = command.Print(s, output.Value, v, v.text)
			if err == nil && len(v.Differences)+len(v.Changed) > 0 {
				err = cli.Quit(command.Differs)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "refuse a bundle with another `DIGEST`")
	cmd.Flags().StringVar(&image, "image", "", "leave out what the image has: the files of it are in `DIR`")
	command.AddOutput(cmd, &output)
	return cmd
}

// verify compares a root with a bundle. image is a directory with the image's files; empty if it is not known.
func verify(dir, root, digest, image string) (*verification, error) {
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
	// If the superuser does not own a root, it is not a machine's: another user has created that directory.
	superuser, ok := info.Sys().(*syscall.Stat_t)
	compared := ok && superuser.Uid == 0
	owner := func(info fs.FileInfo) (uid, gid int, ok bool) {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !compared {
			return 0, 0, false
		}
		return int(stat.Uid), int(stat.Gid), true
	}
	added, noted, err := additions(m, root, image)
	if err != nil {
		return nil, err
	}
	differences := append(m.Verify(tree.FS(), owner), added...)
	slices.SortStableFunc(differences, func(a, b bundle.Difference) int { return strings.Compare(a.Path, b.Path) })
	return &verification{dir, root, m.Digest, m.Config, len(m.Entries), differences, m.Self(from.FS()), noted}, nil
}

// additions finds what is not of the bundle and changes what the node runs.
func additions(m *bundle.Manifest, root, image string) (added, noted []bundle.Difference, err error) {
	machine, err := rootfs.Open(root)
	if err != nil {
		return nil, nil, fmt.Errorf("the root: %w", err)
	}
	defer machine.Close()
	if image == "" {
		return m.Additions(machine, nil)
	}
	if _, err := os.Stat(image); err != nil {
		return nil, nil, fmt.Errorf("the image: %w", err)
	}
	before, err := rootfs.Open(image)
	if err != nil {
		return nil, nil, fmt.Errorf("the image: %w", err)
	}
	defer before.Close()
	return m.Additions(machine, before)
}

// text formats the result for people.
func (v *verification) text(style cli.Style) string {
	table := cli.Table{Indent: "  "}
	for _, d := range v.Noted {
		table.Row(cli.Cell{Text: d.Path}, cli.Cell{Text: d.What + " (no difference)"})
	}
	if len(v.Differences)+len(v.Changed) == 0 {
		return table.String() + style.Green("same") + fmt.Sprintf(": %s of %s, config %s\n", cli.Plural(v.Entries, "entry"), cli.Line(v.Bundle), v.Config)
	}
	for _, d := range v.Changed {
		table.Row(cli.Cell{Text: v.Bundle + "/" + d.Path, Paint: style.Red}, cli.Cell{Text: d.What + " since the bundle was written"})
	}
	for _, d := range v.Differences {
		table.Row(cli.Cell{Text: d.Path, Paint: style.Yellow}, cli.Cell{Text: d.What})
	}
	return table.String() + fmt.Sprintf("\n%s of %s\n", cli.Plural(len(v.Differences)+len(v.Changed), "difference"), cli.Plural(v.Entries, "entry"))
}
