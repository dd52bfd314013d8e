//go:build linux

package commands

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

// onLinux are the commands that write the files of an image, or compare them with its lock. They change a tree so that a program that is
// stopped at any point leaves no half file, for which internal/rootfs uses system calls of Linux.
func onLinux(s cli.Streams) []*cobra.Command {
	return []*cobra.Command{newLock(s), newFetch(s), newBake(s), newBuild(s), newVerify(s)}
}
