package scenario

import (
	"context"
	"fmt"
	"strings"
)

// reportsArgs are the required values of the machine's last report to its cloud.
type reportsArgs struct {
	// State is the health in the report to Azure's wire server: "Ready" or "NotReady".
	State string `yaml:"state"`
	// Description is a part of the cause in that report.
	Description string `yaml:"description"`
}

// reports checks the machine's report to its cloud about the end of its provisioning.
func (r *caseRun) reports(ctx context.Context, want reportsArgs) error {
	return r.eventually(ctx, func() error {
		reports := r.Lab.Cloud.Health()
		if len(reports) == 0 {
			return fmt.Errorf("the cloud was told nothing, want %q", want.State)
		}
		last := reports[len(reports)-1]
		if last.State != want.State || !strings.Contains(last.Description, want.Description) {
			return fmt.Errorf("the cloud was told %q, %q: want %q, %q", last.State, last.Description, want.State, want.Description)
		}
		return nil
	})
}
