package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/doctor"
)

// The page about the doctor has the table's content.
func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The doctor\n\n" +
		"`slipway-node doctor` checks a machine and names what keeps it from being a Ready node. It changes nothing. It needs no cluster, and works\n" +
		"before the machine has joined as after. It also works on nodes that Slipway has not made: those of kubeadm, AKS and EKS.\n\n" +
		"    slipway-node doctor\n\n" +
		"The first lines are the faults, each with what was tried and the next step. The table below them has all checks. A check is *fine* or\n" +
		"*wrong*, or it is *not looked at*, because it rests on another one that is wrong. It is *not known* if the machine did not let the doctor\n" +
		"look. So one fault has one verdict. The exit code is 0 if the machine is healthy, 1 if it is sick, and 2 if that is not known.\n\n" +
		"`-o json` prints everything that was tried. `--root DIR` checks what the files of a directory show; a check with a dot in the column *live*\n" +
		"needs the running machine. An examination takes at most 5 seconds on a healthy node of ordinary speed, and 15 seconds on any other.\n\n" +
		"A provisioning that fails runs the checks that fit its exit code. The first verdict is the error in its status and in provision.json.\n")
	title := ""
	for _, check := range doctor.Checks {
		if check.Group != title {
			title = check.Group
			fmt.Fprintf(&b, "\n## %s\n\n| check | question | live | cause | meaning | next step |\n|---|---|---|---|---|---|\n", title)
		}
		live := ""
		if check.Live {
			live = "•"
		}
		for i, cause := range check.Causes {
			name, asks, dot := "`"+check.Name+"`", check.Asks, live
			if i > 0 {
				name, asks, dot = "", "", ""
			}
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s | %s |\n", name, asks, dot, cause.Name, cause.Means, cause.Action)
		}
	}
	golden(t, "../../docs/doctor.md", b.String())
}
