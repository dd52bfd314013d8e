package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// Files are the files of earlier runs.
type Files interface {
	Stat(path string) (apply.Entry, error)
	ReadFile(path string, limit int64) ([]byte, error)
}

// LastStatus returns the status of the last provisioning.
func LastStatus(files Files) (*status.Status, error) {
	data, err := state.RunStatus.Read(files)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = state.Status.Read(files)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no provisioning has ended on this machine: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the status cannot be read: %w", err)
	}
	last, err := status.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", state.Status.Path, err)
	}
	return last, nil
}

// SuccessStands reports whether the last provisioning was of the same contract, succeeded, and is published.
func SuccessStands(files Files, digest string, target Target) bool {
	last, err := LastStatus(files)
	if err != nil || last.Outcome != status.OutcomeSuccess || digest == "" || last.Config.Digest != digest {
		return false
	}
	entry, err := files.Stat(target.marker())
	if err != nil || entry.Kind != apply.RegularFile {
		return false
	}
	result, err := read(files, target.destination())
	if err != nil {
		return false
	}
	code, err := result.Code()
	return err == nil && code == exitcode.Success
}

// FailureStands reports whether the last status is of a failure.
func FailureStands(files Files) bool {
	last, err := LastStatus(files)
	return err == nil && last.Outcome == status.OutcomeFailure
}

// Marked reports whether a program that waits for the result has one.
func Marked(files Files, target Target) bool {
	return slices.ContainsFunc([]string{target.marker(), runPlace.complete}, func(marker string) bool {
		there, err := files.Stat(marker)
		return err == nil && there.Kind == apply.RegularFile
	})
}

// FailureMarked reports whether a marker exists for an earlier run that failed.
func FailureMarked(files Files) (bool, error) {
	for _, place := range places {
		marker, err := files.Stat(place.complete)
		if err != nil {
			return false, err
		}
		data, err := place.result.Read(files)
		if marker.Kind == apply.Absent || err != nil {
			continue
		}
		result, err := status.ParseCSE(data)
		if code, unclear := result.Code(); err == nil && unclear == nil && code == exitcode.Success {
			continue
		}
		return true, nil
	}
	return false, nil
}

// RemoveMarkers removes the markers of earlier runs, so that their result is not taken for this one's: all markers that
// a program may wait for, and the result itself if a script may leave it unchanged.
func (p *Publisher) RemoveMarkers(target Target) error {
	stale := append([]string{target.marker()}, markers...)
	if target.Script {
		stale = append(stale, target.destination().result.Path)
	}
	removed, err := remove(p.Host, stale...)
	if err != nil {
		return fmt.Errorf("remove the result of an earlier provisioning: %w", err)
	}
	if !removed {
		return nil
	}
	return p.Host.Sync()
}

// RemoveResults durably removes all results of a run. A reset does it first: a machine that is not a node any more, or
// only half of one, must not report that it is one.
func (p *Publisher) RemoveResults() error {
	stale := slices.Clone(markers)
	for _, at := range places {
		stale = append(stale, at.result.Path)
		if at.baseComplete != "" {
			stale = append(stale, at.baseComplete)
		}
	}
	if _, err := remove(p.Host, append(stale, state.RunStatus.Path, state.Status.Path)...); err != nil {
		return fmt.Errorf("remove the result of the provisioning: %w", err)
	}
	return p.Host.Sync()
}

// remove removes files, and reports whether there was one.
func remove(host Host, paths ...string) (removed bool, err error) {
	for _, path := range paths {
		entry, err := host.Stat(path)
		if err == nil && entry.Kind != apply.Absent {
			err = host.Remove(path)
			removed = true
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// read reads the result that is published in a place.
func read(files Files, at destination) (status.CSEStatus, error) {
	data, err := at.result.Read(files)
	if err != nil {
		return status.CSEStatus{}, err
	}
	return status.ParseCSE(data)
}
