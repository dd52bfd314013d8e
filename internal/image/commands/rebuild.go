//go:build linux

package commands

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/build"
	"github.com/slipway-dev/slipway/internal/image/cache"
)

// rebuilding has the flags of verify --rebuild.
type rebuilding struct {
	wanted        bool
	tools, mirror string
}

func (r *rebuilding) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.wanted, "rebuild", false, "make the disk again, and demand the same bytes")
	addTools(cmd, &r.tools, &r.mirror)
}

// addTools adds the flags about mkosi's tools.
func addTools(cmd *cobra.Command, tools, mirror *string) {
	cmd.Flags().StringVar(mirror, "mirror", "", "take packages from the archive at `URL` (default: the snapshot of the lock's base)")
	cmd.Flags().StringVar(tools, "tools", "", "run mkosi of the tree in `DIR`, which is made if it is missing (default: in the cache)")
	command.Must(cmd.MarkFlagDirname("tools"))
}

// compare makes the image again, and adds the differences to what is verified.
func (r *rebuilding) compare(cmd *cobra.Command, s cli.Streams, v *verified) error {
	dir, err := cache.Default()
	if err != nil && r.tools == "" {
		return fmt.Errorf("name the tools with --tools DIR: %w", err)
	}
	var snapshot string
	again := &build.Rebuilder{Disk: v.Image, Architecture: v.Architecture, Log: s.Err}
	if v.Base != nil {
		again.Suite, snapshot = v.Base.Suite, v.Base.Snapshot
	}
	if err := build.CheckRuns(cmd.Context(), again.Architecture); err != nil {
		return err
	}
	if again.Tools, err = build.OpenTools(cmd.Context(), r.tools, filepath.Dir(dir), snapshot, r.mirror, s.Err); err != nil {
		return err
	}
	same, differences, err := again.Compare(cmd.Context())
	v.Differences = append(v.Differences, differences...)
	v.Rebuilt, v.SameBytes = err == nil && len(differences) == 0, same
	return err
}
