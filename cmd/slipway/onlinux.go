//go:build linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
)

// onLinux are the commands that read a machine as the agent does, with system calls of Linux.
func onLinux(s cli.Streams) []*cobra.Command { return []*cobra.Command{newVerify(s)} }
