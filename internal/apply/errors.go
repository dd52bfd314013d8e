package apply

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/resource"
)

// ErrNotProbed means that a check did not run, because the host is a directory.
var ErrNotProbed = errors.New("not probed: the host is a directory")

// CheckError is a failure with its cause: of a check, or of an action.
type CheckError struct {
	Cause resource.Cause
	// Endpoint is what was tried: a URL with its resolved address, a path or a unit.
	Endpoint string
	Err      error
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Cause, e.Endpoint, e.Err)
}

func (e *CheckError) Unwrap() error { return e.Err }

// Error is the failure of one resource.
type Error struct {
	Resource resource.ID
	// ExitCode is the provisioning's exit code for this failure. 0 means the agent's.
	ExitCode int
	Err      error
}

func (e *Error) Error() string { return string(e.Resource) + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
