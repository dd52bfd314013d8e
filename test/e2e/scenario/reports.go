package scenario

import (
	"context"
	"fmt"
	"strings"
)

// reportsArgs are what the machine must have told its cloud last.
type reportsArgs struct {
	// State is the health that Azure's wire server must have been told: "Ready" or "NotReady".
	State string `yaml:"state"`
	// Description is a part of what it was told of the cause.
	Description string `yaml:"description"`
}

// reports checks what the machine has told its cloud of how its provisioning ended.
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
