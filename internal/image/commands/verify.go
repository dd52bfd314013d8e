package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/changes"
	"github.com/slipway-dev/slipway/internal/image/lock"
)

// verified is the result of verify.
type verified struct {
	Image string `json:"image"`
	*bake.Verification
}

func newVerify(s cli.Streams) *cobra.Command {
	var (
		output command.Choice
		named  string
	)
	cmd := &cobra.Command{
		Use:   "verify IMAGE [flags]",
		Short: "Compare an image with the lock in it",
		Long: `Compare an image with the lock in it: the mode and the digest of each file that "slipway image bake" put
there, and the image's manifest. With --lock, each component must also be as that lock has it.

IMAGE is a directory with the image's files, or the file of an image: raw or a fixed VHD, with an
ext4 root. Who can change the files of an image can change its lock, too. So name the lock that you
keep, with --lock.

Exit codes: 0 no difference, 1 a difference, 2 the image could not be read, 64 wrong usage.`,
		Example: `  slipway image verify image
  slipway image verify --lock components.lock image.raw`,
		Args: command.Arguments(1, 1, "a directory or an image"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := verify(cmd, s, args[0], named)
			if err != nil {
				return command.Trouble(err)
			}
			return command.Compared(command.Print(s, output.Value, v, v.text), len(v.Differences) == 0)
		},
	}
	cmd.Flags().StringVar(&named, "lock", "", "compare the components also with those of the lock in `FILE`")
	command.Must(cmd.MarkFlagFilename("lock", "lock"))
	command.AddOutput(cmd, &output)
	return cmd
}

func verify(cmd *cobra.Command, s cli.Streams, name, named string) (*verified, error) {
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
	return &verified{name, v}, nil
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
	fmt.Fprintf(&out, "%s %s: %s for %s, %s\n", cli.Line(v.Image), verdict, cli.Plural(v.Files, "file"), cli.Line(v.Architecture), changes.Size(v.Bytes))
	fmt.Fprintf(&out, "%s\n", style.Dim("lock sha256:"+v.Lock))
	return out.String()
}
