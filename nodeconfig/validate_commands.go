package nodeconfig

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/document"
)

// How many commands of the author's own there may be, and how large. An argument of a process is at most 128 KiB (execve(2)),
// and systemd's line as much again with its quotes.
const (
	maxCommands     = 64
	maxCommandBytes = 16 << 10
)

// commands validates the author's commands. That a text has no NUL is seen with all texts.
func (v *validator) commands(c *NodeConfig) {
	if len(c.Commands) > maxCommands {
		v.vital("$.commands", fmt.Sprintf("are more than %d", maxCommands))
	}
	for i := range c.Commands {
		command, at := &c.Commands[i], document.IndexPath("$.commands", i)
		switch size := len(command.Text); {
		case size == 0:
			v.missing(at+".text", "is missing")
		case size > maxCommandBytes:
			v.vital(at+".text", fmt.Sprintf("has more than %d bytes; put what it does in a file, and run that", maxCommandBytes))
		}
		if command.Replaces && i < len(c.Commands)-1 {
			v.vital(at+".replaces", "is true, and commands follow: the one that starts the kubelet must be the last")
		}
	}
}
