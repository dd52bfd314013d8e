package systemd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// The manager's methods that start a job.
const (
	startMethod   = "StartUnit"
	restartMethod = "RestartUnit"
	stopMethod    = "StopUnit"
	reloadMethod  = "ReloadOrRestartUnit"
)

// errUnfinished means that a job was not done in time. If systemd has received it, it continues.
var errUnfinished = errors.New("its job is not done")

// StartUnit starts a unit and waits until its job is done. If the unit is active, it returns at once. If ctx is done
// before, the job continues. The error of a failing unit is a [*UnitError] if its journal has lines.
func (m *Manager) StartUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, startMethod, unit)
}

// RestartUnit restarts a unit, or starts it, and waits until its job is done. If ctx is done before, the job continues.
// Its error is like StartUnit's.
func (m *Manager) RestartUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, restartMethod, unit)
}

// ReloadUnit makes a running unit read its configuration again, restarts a unit that cannot, and waits until its job is
// done. Its error is like StartUnit's.
func (m *Manager) ReloadUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, reloadMethod, unit)
}

// StopUnit stops a unit and waits until its job is done. If the unit does not run, it returns at once. A unit without a
// unit file and processes counts as stopped. If ctx is done before, the job continues.
func (m *Manager) StopUnit(ctx context.Context, unit string) error {
	err := m.jobWithLog(ctx, stopMethod, unit)
	if errors.Is(err, ErrNoUnit) {
		return nil
	}
	return err
}

// jobWithLog is job. If the unit itself fails, the error has the last lines of its journal.
func (m *Manager) jobWithLog(ctx context.Context, method, unit string) error {
	err := m.job(ctx, method, unit)
	var result jobResult
	if errors.As(err, &result) && (result == "failed" || result == "timeout") || errors.Is(err, errUnfinished) {
		return m.WithLog(ctx, unit, err)
	}
	return err
}

// job starts, restarts or stops a unit, and returns when systemd reports the result.
func (m *Manager) job(ctx context.Context, method, unit string) error {
	verb, _, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(method, "Unit")), "or")
	if err := checkUnit(unit); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	var result string
	asked := request{method: method, unit: unit}
	err := m.do(ctx, func(conn Bus) (err error) {
		if result, err = asked.look(ctx, conn); err != nil || result != "" {
			return err
		}
		result, err = finish(ctx, conn, func(done chan<- string) error {
			return failpoint.Pass(failpoint.Change{Kind: failpoint.Kind(verb), Name: unit}, func() error {
				return conn.Enqueue(ctx, asked.method, unit, done)
			})
		})
		return err
	})
	if err == nil && result == "done" {
		return nil
	}
	switch {
	case errors.Is(err, ErrNoUnit), errors.Is(err, ErrMasked):
		return fmt.Errorf("%s %s: %w", verb, unit, err)
	case err != nil:
		return fmt.Errorf("%s %s: %w%s", verb, unit, err, m.explain(ctx, unit))
	}
	return fmt.Errorf("%s %s: %w%s", verb, unit, jobResult(result), m.explain(ctx, unit))
}

// finish requests a job with enqueue, and returns the job's result. If the connection is lost, or ctx is done before
// the job, the job continues and its state is unknown.
func finish(ctx context.Context, conn Bus, enqueue func(done chan<- string) error) (string, error) {
	done := make(chan string, 1)
	err := enqueue(done)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("%w: %w", errUnfinished, err)
	case err != nil:
		return "", err
	}
	select {
	case result := <-done:
		return result, nil
	case <-conn.Lost():
		return "", ErrLost
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", errUnfinished, ctx.Err())
	}
}

// request is a requested job, which may have to be requested again over another connection.
type request struct {
	method, unit string
	// before identifies the unit's last start before the first request.
	before string
	known  bool
}

// look finds out what is left to request: the first time, the whole job. After a lost connection it is unknown whether
// systemd received the request, and the job may have ended since. look joins a running job. If the unit was started
// since, look does not start it again: the result is the unit's state.
func (r *request) look(ctx context.Context, conn Bus) (result string, err error) {
	if r.method == stopMethod {
		return "", nil // stopping can be requested again
	}
	wanted := []string{"InvocationID"}
	if r.known {
		wanted = append(wanted, "ActiveState", "Job")
	}
	properties, err := conn.Properties(ctx, UnitObject(r.unit), unitInterface, wanted...)
	switch {
	case errors.Is(err, ErrLost), ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", nil // the job's answer is more precise
	}
	id, _ := properties["InvocationID"].([]byte)
	state, _ := properties["ActiveState"].(string)
	switch now := string(id); {
	case !r.known:
		r.before, r.known = now, true
	case jobNumber(properties) != 0:
		r.method = startMethod // this joins it
	case now == r.before: // nothing was done
	case state == "activating":
		r.method = startMethod
	case state == "failed":
		return "failed", nil
	default:
		return "done", nil
	}
	return "", nil
}

// jobResult is a job's result other than "done", in systemd's words.
type jobResult string

// jobResults describe systemd's documented results (org.freedesktop.systemd1(5), JobRemoved).
var jobResults = map[jobResult]string{
	"failed":     "its job failed (result failed)",
	"timeout":    "its job timed out (result timeout)",
	"canceled":   "its job was canceled by another one (result canceled)",
	"dependency": "a unit that it depends on failed (result dependency)",
	"skipped":    "its job was skipped because it does not fit the unit's state (result skipped)",
}

// Error describes the result.
func (r jobResult) Error() string {
	if text, known := jobResults[r]; known {
		return text
	}
	return fmt.Sprintf("its job ended with result %q", string(r))
}

// explain describes a unit whose job did not succeed, as far as possible: "; it is failed (failed), result exit-code,
// exit status 203". It asks systemd even if ctx is done.
func (m *Manager) explain(ctx context.Context, unit string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTimeout)
	defer cancel()
	conn, release, err := m.bus(ctx)
	if err != nil {
		return ""
	}
	defer release()
	state, err := readState(ctx, conn, unit)
	if err != nil {
		return ""
	}
	text := "; it is " + Describe(state)
	if iface := typeInterface(unit); strings.HasSuffix(iface, ".Service") && state.LoadState == "loaded" {
		properties, err := conn.Properties(ctx, UnitObject(unit), iface, "ExecMainStatus", "ExecMainCode")
		if status, ok := properties["ExecMainStatus"].(int32); err == nil && ok && status != 0 {
			text += mainStatus(properties["ExecMainCode"], status)
		}
	}
	return text
}

// mainStatus describes the end of a service's main process.
func mainStatus(code any, status int32) string {
	const exited = 1 // CLD_EXITED
	if code, ok := code.(int32); ok && code != exited {
		return fmt.Sprintf(", killed by signal %d", status)
	}
	return fmt.Sprintf(", exit status %d", status)
}
