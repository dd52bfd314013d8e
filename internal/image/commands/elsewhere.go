//go:build !linux

package commands

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

// onLinux are no commands on another system.
func onLinux(cli.Streams) []*cobra.Command { return nil }
