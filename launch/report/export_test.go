package report

import (
	"fmt"

	"github.com/slipway-dev/slipway/exitcode"
)

// codesOfAnything are the codes of Slipway without a reason: each stands for several failures.
var codesOfAnything = []int{
	exitcode.AKSNodeController, exitcode.AgentFailed, exitcode.RealmFailed, exitcode.TrustFailed, exitcode.SSHDisableFailed,
	exitcode.NodeAddressMissing, exitcode.SecondaryInterfaceFailed,
}

// CodeKey is an exit code in Rows.
func CodeKey(code int) string { return fmt.Sprintf("code %d", code) }

// Rows counts in how many rows each cause and each exit code is.
func Rows() map[string]int {
	count := make(map[string]int)
	for _, r := range append(rows, row{codes: codesOfAnything}) {
		for _, c := range r.causes {
			count["cause "+string(c)]++
		}
		for _, c := range r.codes {
			count[CodeKey(c)]++
		}
	}
	return count
}
