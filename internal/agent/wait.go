package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// Wait waits until a provisioning has ended and returns its result document and exit code. An error
// is about the waiting: the document then says the same, and the code is the agent's own.
func (a *Agent) Wait(ctx context.Context) (document []byte, code int, err error) {
	panicked := a.guarded(func() error {
		document, code, err = a.wait(ctx)
		return nil
	})
	if panicked != nil {
		return a.waited(exitcode.AgentFailed, place{}, panicked)
	}
	return document, code, err
}

func (a *Agent) wait(ctx context.Context) (document []byte, code int, err error) {
	start := a.Now()
	marker, err := a.Host.WaitForFiles(ctx, markers...)
	if err != nil {
		code = exitcode.AgentFailed
		if errors.Is(err, context.DeadlineExceeded) {
			code = exitcode.Timeout
			err = fmt.Errorf("no result after %s: provisioning has not ended or has not started; see the agent's log: %w",
				a.Now().Sub(start).Round(1e9), err)
		}
		return a.waited(code, place{}, err)
	}
	for _, p := range places {
		if p.complete != marker {
			continue
		}
		document, code, err = a.result(ctx, p)
		if p.events().Dir != "" {
			level, message := status.LevelInformational, "Completed"
			if code != exitcode.Success {
				level, message = status.LevelError, "provisioning ended with exit code "+strconv.Itoa(code)
			}
			_ = a.guarded(func() error {
				a.writeEvent(p.events(), "ProvisionWait", level, message, start, a.Now())
				return nil
			})
		}
	}
	return document, code, err
}

// result reads a published result, and completes it with what has become known since.
func (a *Agent) result(ctx context.Context, p place) ([]byte, int, error) {
	document, err := p.result.Read(a.Host)
	if err != nil {
		return a.waited(exitcode.AgentFailed, p, fmt.Errorf("the marker %s exists, but the result does not: %w", p.complete, err))
	}
	result, err := status.ParseCSE(document)
	if err != nil {
		return document, a.published(exitcode.AgentFailed, p), fmt.Errorf("result %s: %w", p.result.Path, err)
	}
	code, err := result.Code()
	if err == nil && (code < 0 || code > maxExitCode) {
		err = fmt.Errorf("%d is not an exit code of a process", code)
	}
	if err != nil {
		return document, a.published(exitcode.AgentFailed, p), fmt.Errorf("result %s: %w", p.result.Path, err)
	}
	return a.completed(ctx, document, result), code, nil
}

// maxExitCode is the largest with which a process can end; a larger one would come out as another,
// such as success.
const maxExitCode = 255

// completed is a result document with the times that have become known since it was published, which
// are worth a moment's wait and no more.
func (a *Agent) completed(ctx context.Context, document []byte, result status.CSEStatus) []byte {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = a.guarded(func() error {
		if !a.fill(ctx, &result) {
			return nil
		}
		completed, err := result.Marshal()
		if err == nil {
			document = completed
		}
		return err
	})
	return document
}

// waited is the result of a wait that did not find one: a document all the same, since who reads it
// expects one.
func (a *Agent) waited(code int, at place, cause error) ([]byte, int, error) {
	code = a.published(code, at)
	document, err := status.CSEStatus{ExitCode: strconv.Itoa(code), Error: cause.Error()}.Marshal()
	return document, code, errors.Join(cause, err)
}

// LastStatus returns the status of the last provisioning.
func (a *Agent) LastStatus() (*status.Status, error) {
	data, err := state.RunStatus.Read(a.Host)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = state.Status.Read(a.Host)
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
