// Package fault has the error of one component of an image: its name, what failed, and what the user does next.
//
// It does no I/O. internal/image/resolve and internal/image/download return it, and cmd/slipway's commands print it.
package fault

import (
	"errors"
	"strings"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// Error is why a component could not be locked or fetched.
type Error struct {
	// Component is its name, which the caller of the failed function may add. Architecture is empty if the error is not of one
	// architecture.
	Component, Architecture string
	// Err is the reason.
	Err error
	// Next is what the user does next.
	Next string
}

// Error names the component.
func (e *Error) Error() string {
	if e.Component == "" {
		return e.Err.Error()
	}
	return strings.TrimSuffix(e.Component+" "+e.Architecture, " ") + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// steps are the next steps by a download's cause.
var steps = map[fetch.Cause]string{
	fetch.WrongDigest:  "the source has another file than expected: if its maker has replaced it, lock it again with --update; otherwise use another source",
	fetch.WrongContent: "look at what the source answers, or name another source in components.yaml",
	fetch.Refused:      "log in to the registry (docker login or podman login); a server needs a mirror without a login, or a directory with --from",
	fetch.NotFound:     "correct the source or the version in components.yaml",
	fetch.Server:       "try again later, or name another source in components.yaml",
	fetch.Unreachable:  "check the network and HTTPS_PROXY, or take the files from a directory with --from",
}

// Of is the error of a component with its next step. next is the step of an error that is not a download's.
func Of(component, architecture string, err error, next string) *Error {
	e := &Error{component, architecture, err, next}
	if known, ok := errors.AsType[*Error](err); ok {
		e.Err, e.Next = known.Err, known.Next
	} else if failed, ok := errors.AsType[*fetch.Error](err); ok {
		e.Next = steps[failed.Cause]
	}
	if rootfs.NoRoom(err) {
		e.Next = "make room on the disk of the cache, or name another directory with --cache"
	}
	return e
}
