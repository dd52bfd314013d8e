package report_test

import (
	"fmt"

	"github.com/slipway-dev/slipway/launch/report"
)

// What a machine reports becomes a reason for its claim.
func Example() {
	outcome, err := report.Read([]byte("Enable failed: failed to execute command: command terminated with exit status=121\n[stdout]\n\n[stderr]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.Reason, outcome.Retry)
	fmt.Println(outcome.Message)
	// Output:
	// ImageIncomplete false
	// the kubelet for this Kubernetes version is not on the machine and could not be put there
}
