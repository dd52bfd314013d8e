//go:build linux

package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/build"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/signature"
)

// verified is the result of verify.
type verified struct {
	Image string `json:"image"`
	// SignedBy are the names of the signer of the manifest beside the image.
	SignedBy string `json:"signedBy,omitempty"`
	// Rebuilt reports whether the disk was made again, with the same files but for containerd's store, and SameBytes whether all bytes are the same.
	Rebuilt   bool `json:"rebuilt,omitempty"`
	SameBytes bool `json:"sameBytes,omitempty"`
	*bake.Verification
}

func newVerify(s cli.Streams) *cobra.Command {
	var (
		output         command.Choice
		named, signers string
		again          rebuilding
	)
	cmd := &cobra.Command{
		Use:   "verify IMAGE [flags]",
		Short: "Compare an image with the lock in it",
		Long: `Compare an image with the lock in it: the mode and the digest of each file that "slipway image bake" put
there, and the image's manifest. With --lock, each component must also be as that lock has it.

IMAGE is a directory with the image's files, or the file of an image: raw, a fixed VHD or qcow2, with an
ext4 root. Who can change the files of an image can change its lock, too. So name the lock that you
keep, with --lock. Or sign the manifest beside a disk that "slipway image build" has made, and name the
keys that may sign with --signers: then the signature must be right, and the disk must be the
manifest's, byte by byte.

    ssh-keygen -Y sign -n slipway-image -f KEY image/output/node.manifest.json

With --rebuild, mkosi makes the disk again from the configuration beside it, and the two must be the same
bytes. If the image has container images, containerd's store may differ: it has the times of their import.
That takes as long as the build.

Exit codes: 0 no difference, 1 a difference, 2 the image could not be read, 64 wrong usage.`,
		Example: `  slipway image verify image
  slipway image verify --lock components.lock image.raw
  slipway image verify --signers allowed_signers image/output/node.raw
  slipway image verify --rebuild image/output/node.raw`,
		Args: command.Arguments(1, 1, "a directory or an image"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := verify(cmd, s, args[0], named, signers)
			if err != nil {
				return command.Trouble(err)
			}
			if again.wanted {
				if err := again.compare(cmd, s, v); err != nil {
					return command.Trouble(err)
				}
			}
			return command.Compared(command.Print(s, output.Value, v, v.text), len(v.Differences) == 0)
		},
	}
	cmd.Flags().StringVar(&named, "lock", "", "compare the components also with those of the lock in `FILE`")
	command.Must(cmd.MarkFlagFilename("lock", "lock"))
	cmd.Flags().StringVar(&signers, "signers", "", "demand a manifest beside the image that a key in `FILE` has signed (ssh-keygen's list of allowed signers)")
	command.Must(cmd.MarkFlagFilename("signers"))
	again.add(cmd)
	command.AddOutput(cmd, &output)
	return cmd
}

func verify(cmd *cobra.Command, s cli.Streams, name, named, signers string) (*verified, error) {
	var expected *lock.Lock
	if named != "" {
		var err error
		if expected, err = readLock(s, named); err != nil {
			return nil, err
		}
	}
	tree, closer, err := openImage(name)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	v, err := bake.Verify(cmd.Context(), tree, expected)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cli.Line(name), err)
	}
	result := &verified{Image: name, Verification: v}
	if signers != "" {
		err = result.signature(signers)
	}
	return result, err
}

// signature compares the image with the signed manifest beside it.
func (v *verified) signature(signers string) error {
	beside := strings.TrimSuffix(v.Image, filepath.Ext(v.Image)) + ".manifest.json"
	var files [3][]byte
	for i, name := range []string{signers, beside, beside + ".sig"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files[i] = data
	}
	allowed, err := signature.ParseSigners(files[0])
	if err != nil {
		return fmt.Errorf("%s: %w", cli.Line(signers), err)
	}
	differs := func(at, format string, args ...any) {
		v.Differences = append(v.Differences, bake.Difference{Path: at, Reason: fmt.Sprintf(format, args...)})
	}
	if v.SignedBy, err = signature.Verify(files[1], files[2], components.SignedFor, allowed); err != nil {
		differs(beside, "%v", err)
		return nil
	}
	m, err := components.Parse(files[1])
	if err == nil && m.Made == nil {
		err = errors.New("it does not say what made the image")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cli.Line(beside), err)
	}
	sum, _, err := build.Digest(v.Image)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(m.Made.Disks, func(d components.Disk) bool { return d.SHA256 == sum }) {
		differs(v.Image, "it has SHA-256 %s, which the signed manifest does not have", sum)
	}
	if m.Made.Lock != v.Lock {
		differs(beside, "it is of the lock %s, and the image has the lock %s", m.Made.Lock, v.Lock)
	}
	return nil
}

// text is the result for people.
func (v *verified) text(style cli.Style) string {
	var out strings.Builder
	for _, d := range v.Differences {
		fmt.Fprintf(&out, "%s %s: %s\n", style.Red("differs"), cli.Line(d.Path), cli.Line(d.Reason))
	}
	verdict := "is as its lock says"
	if n := len(v.Differences); n > 0 {
		verdict = "has " + cli.Plural(n, "difference") + " from its lock"
	}
	fmt.Fprintf(&out, "%s %s: %s for %s, %s\n", cli.Line(v.Image), verdict, cli.Plural(v.Files, "file"), cli.Line(v.Architecture), cli.Size(v.Bytes))
	if v.SignedBy != "" {
		fmt.Fprintf(&out, "its manifest is signed by %s\n", cli.Line(v.SignedBy))
	}
	switch {
	case v.SameBytes:
		fmt.Fprintln(&out, "made again, it has the same bytes")
	case v.Rebuilt:
		fmt.Fprintln(&out, "made again, it has the same files; the times in containerd's store differ")
	}
	fmt.Fprintf(&out, "%s\n", style.Dim("lock sha256:"+v.Lock))
	return out.String()
}
