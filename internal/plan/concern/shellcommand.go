package concern

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// starterOf returns the index of the author's command that starts the kubelet, or -1.
func starterOf(c *nodeconfig.NodeConfig) int {
	if last := len(c.Commands) - 1; last >= 0 && c.Commands[last].Replaces {
		return last
	}
	return -1
}

// ShellCommand is an author's command, after the one before it. Its name has the texts of those before it, too: what a text
// does may build on them.
func ShellCommand(texts []nodeconfig.ShellCommand, i int) resource.Resource {
	sum := sha256.New()
	for _, c := range texts[:i+1] {
		fmt.Fprintf(sum, "%d %t\n%s", len(c.Text), c.Replaces, c.Text)
	}
	before := OutboundGroup.All()
	if i > 0 {
		before = commandID(i - 1)
	}
	return resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{before},
		ExitCode: exitcode.ScriptFailed,
		Effects:  resource.Effects{Class: resource.Drain, Why: "what a command of the author's does to the pods is not known"},
		Spec: &resource.Command{
			Label: commandLabel(i), Argv: []string{facts.Bash, "-c", texts[i].Text}, Once: hex.EncodeToString(sum.Sum(nil)),
			Unconfined: true,
		},
	}
}

func commandLabel(i int) string { return fmt.Sprintf("command-%d", i+1) }

func commandID(i int) resource.ID { return resource.IDOf(&resource.Command{Label: commandLabel(i)}) }
