package publish

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// Wait waits until a provisioning has ended and returns its result document and exit code. If the wait itself fails, it
// returns an error, a document with the same error, and the agent's code, as callers of the agent by that name know it.
func (p *Publisher) Wait(ctx context.Context, called string) (document []byte, code int, err error) {
	w := &wait{p, called}
	panicked := p.guarded(func() error {
		document, code, err = w.result(ctx)
		return nil
	})
	if panicked != nil {
		return w.failed(exitcode.AgentFailed, destination{}, panicked)
	}
	return document, code, err
}

// wait is one run that waits for the result of another.
type wait struct {
	*Publisher
	called string
}

// result waits for a result.
func (w *wait) result(ctx context.Context) (document []byte, code int, err error) {
	start := w.Now()
	marker, err := w.marker(ctx)
	if err != nil {
		code = exitcode.AgentFailed
		if errors.Is(err, context.DeadlineExceeded) {
			code = exitcode.Timeout
			err = fmt.Errorf("no result after %s: provisioning has not ended or has not started; see the agent's log: %w%s",
				w.Now().Sub(start).Round(1e9), err, w.awaited("; it waits since "))
		}
		return w.failed(code, destination{}, err)
	}
	for _, p := range places {
		if p.complete != marker {
			continue
		}
		document, code, err = w.read(ctx, p)
		if p.events().Dir != "" {
			level, message := status.LevelInformational, "Completed"
			if code != exitcode.Success {
				level, message = status.LevelError, "provisioning ended with exit code "+strconv.Itoa(code)
			}
			_ = w.guarded(func() error {
				w.writeEventTo(p.events(), "ProvisionWait", level, message, start, w.Now())
				return nil
			})
		}
	}
	return document, code, err
}

// marker waits for a marker, and meanwhile logs what the run itself waits for.
func (w *wait) marker(ctx context.Context) (string, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, state.WaitingEvery)
		marker, err := w.Host.WaitForFiles(limited, markers...)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return marker, err
		}
		if text := w.awaited(""); text != "" {
			w.Log.Info("provisioning goes on", state.WaitingKey, text)
		}
	}
}

// awaited is what the run itself waits for, after a prefix. It is empty if the run has not written it.
func (w *wait) awaited(prefix string) string {
	text, err := state.Waiting.Read(w.Host)
	if err != nil || len(text) == 0 {
		return ""
	}
	return prefix + string(text)
}

// read reads a published result, and adds the times that are known by now.
func (w *wait) read(ctx context.Context, p destination) ([]byte, int, error) {
	document, err := p.result.Read(w.Host)
	if err != nil {
		// AKS's program uses these words, and runbooks search for them (AgentBaker, aks-node-controller/README.md).
		return w.failed(exitcode.AgentFailed, p, fmt.Errorf("failed to read provision.json: %w, but the marker %s exists", err, p.complete))
	}
	result, err := status.ParseCSE(document)
	if err != nil {
		return document, codeAt(exitcode.AgentFailed, w.called, p), fmt.Errorf("result %s: %w", p.result.Path, err)
	}
	code, err := result.Code()
	if err == nil && (code < 0 || code > maxExitCode) {
		err = fmt.Errorf("%d is not an exit code of a process", code)
	}
	if err != nil {
		return document, codeAt(exitcode.AgentFailed, w.called, p), fmt.Errorf("result %s: %w", p.result.Path, err)
	}
	return w.completed(ctx, document, result), code, nil
}

// maxExitCode is the largest exit code of a process; a larger one would be truncated to another, such as success.
const maxExitCode = 255

// completed adds to a result document the times that have become known since it was published. It waits for them only
// for a moment.
func (w *wait) completed(ctx context.Context, document []byte, result status.CSEStatus) []byte {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = w.guarded(func() error {
		if !w.fill(ctx, &result) {
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

// failed is the result of a wait that did not find one: also a document, because the reader expects one.
func (w *wait) failed(code int, at destination, cause error) ([]byte, int, error) {
	code = codeAt(code, w.called, at)
	document, err := status.CSEStatus{ExitCode: strconv.Itoa(code), Error: cause.Error()}.Marshal()
	return document, code, errors.Join(cause, err)
}
