// Package commands has the commands of "slipway image": what a node image has, in a lock, and its files, in a cache.
//
// The commands read and write files, and call internal/image's packages. They touch no machine. cmd/slipway adds them.
package commands

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// New returns the command, with further commands of the caller.
func New(s cli.Streams, further ...*cobra.Command) *cobra.Command {
	return command.NewGroup("image", "Lock, fetch, bake, build and check what a node image has",
		`Lock, fetch, bake, build and check what a node image has: kubelet, container runtime, CNI plug-ins,
container images, files.

People write components.yaml: versions or ranges, and where the components are. "lock" makes
components.lock of it, with the exact version, digest, size and licence of each component, and what
is taken out of its archive. "diff" compares two locks. "fetch" brings the files into a cache, and
"bake" puts them into the tree of an image. "build" makes the disk of an image. "verify" compares an
image with its lock, "check" finds what an image must not have, and "can" says whether an image can
make the node of a contract.

Images are made on Linux: elsewhere there are "diff", "check" and "can" alone.`,
		`  slipway image lock
  slipway image lock --update kubelet=1.36.4
  slipway image diff old.lock components.lock
  slipway image fetch
  slipway image build
  slipway image bake --root image --architecture amd64
  slipway image check image
  slipway image can -f node.yaml components.json`,
		slices.Concat([]*cobra.Command{newDiff(s), newCheck(s)}, onLinux(s), further)...)
}

// refused prints a document's problems, and returns the error of a document that has any.
func refused(s cli.Streams, name string, problems []nodeconfig.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	_, _ = io.WriteString(s.Err, cli.Problems(command.PlaceName(name), problems, cli.StyleOf(s.Err)))
	return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("%s has %s", cli.Line(command.Title(name)), cli.CountProblems(problems)), Problems: problems}
}

// readLock reads a lock.
func readLock(s cli.Streams, name string) (*lock.Lock, error) {
	data, err := command.ReadInput(s, name)
	if err != nil {
		return nil, err
	}
	l, problems := lock.Parse(data)
	return l, refused(s, name, problems)
}
