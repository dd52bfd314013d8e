package agent

import (
	"strconv"
	"testing"
)

// While a run works after its result is published, that work is not reported as drift.
func TestWorkInBackgroundIsNoDrift(t *testing.T) {
	n := newNode(t)
	n.deliver(nativeContract, edited(t, "checks:", "trust: {certificates: ["+strconv.Quote(exampleCertificate(t))+"]}\nchecks:"))
	ran := 0
	n.host.before = func(op, name string) error {
		if op == "Run" && name == "trusted-certificates" {
			ran++
			equal(t, "the drift while the distribution's program runs", n.drifted(), "")
		}
		return nil
	}
	if got := n.provision(); got.ExitCode != 0 || ran != 1 {
		t.Errorf("the run ends with %d, and the program was run %d times", got.ExitCode, ran)
	}
	equal(t, "the drift afterwards", n.drifted(), "")
}
