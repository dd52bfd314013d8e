package apply

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/resource"
)

// ErrNotProbed says that a check was not performed, because the host is a directory.
var ErrNotProbed = errors.New("not probed: the host is a directory")

// CheckError is a failure with its cause: a check's, or that of something that is made.
type CheckError struct {
	Cause resource.Cause
	// Endpoint is what was tried: a URL with the address it resolved to, a path or a unit.
	Endpoint string
	Err      error
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Cause, e.Endpoint, e.Err)
}

func (e *CheckError) Unwrap() error { return e.Err }

// Error is one resource that could not be made so.
type Error struct {
	Resource resource.ID
	// ExitCode is the provisioning's exit code for this failure; 0 means the agent's own.
	ExitCode int
	Err      error
}

func (e *Error) Error() string { return string(e.Resource) + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
