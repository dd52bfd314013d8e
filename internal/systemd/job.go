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

// errUnfinished says that a job was not seen to be done in time. It goes on, where systemd has heard of it.
var errUnfinished = errors.New("its job is not done")

// StartUnit starts a unit and waits until its job is done, which is at once where it is active. When ctx is done before,
// the job goes on. The error of a unit that fails is a [*UnitError] where its journal has something to say.
func (m *Manager) StartUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, startMethod, unit)
}

// RestartUnit restarts a unit, or starts it, and waits until its job is done. When ctx is done before, the job goes on. Its
// error is as StartUnit's.
func (m *Manager) RestartUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, restartMethod, unit)
}

// ReloadUnit has a unit that runs read its configuration again, restarts one that cannot, and waits until its job is done.
// Its error is as StartUnit's.
func (m *Manager) ReloadUnit(ctx context.Context, unit string) error {
	return m.jobWithLog(ctx, reloadMethod, unit)
}

// StopUnit stops a unit and waits until its job is done, which is at once where it does not run. One that there is no unit
// file of, and nothing runs of, is stopped. When ctx is done before, the job goes on.
func (m *Manager) StopUnit(ctx context.Context, unit string) error {
	err := m.jobWithLog(ctx, stopMethod, unit)
	if errors.Is(err, ErrNoUnit) {
		return nil
	}
	return err
}

// jobWithLog is job. Where the unit itself is to blame, the error has the last lines of its journal.
func (m *Manager) jobWithLog(ctx context.Context, method, unit string) error {
	err := m.job(ctx, method, unit)
	var result jobResult
	if errors.As(err, &result) && (result == "failed" || result == "timeout") || errors.Is(err, errUnfinished) {
		return m.WithLog(ctx, unit, err)
	}
	return err
}

// job starts, restarts or stops a unit, and returns when systemd says what became of it.
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

// finish has enqueue ask for a job, and returns the job's result. Over a lost connection, and when ctx is done before the
// job is, the job goes on, and nobody here knows how far it came.
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

// request is what a job is asked for, which may have to be done again over another connection.
type request struct {
	method, unit string
	// before distinguishes the unit's last start from others, as it was when the job was asked for first.
	before string
	known  bool
}

// look finds out what is left to ask for: all of it the first time. After a connection was lost nobody knows
// whether systemd had heard, and the job may have ended since. One that is at work is joined; and where the
// unit was started since, it is not started again: the result is what has become of it.
func (r *request) look(ctx context.Context, conn Bus) (result string, err error) {
	if r.method == stopMethod {
		return "", nil // it can be asked for again
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
		return "", nil // the job's own answer says it better
	}
	id, _ := properties["InvocationID"].([]byte)
	state, _ := properties["ActiveState"].(string)
	switch now := string(id); {
	case !r.known:
		r.before, r.known = now, true
	case jobNumber(properties) != 0:
		r.method = startMethod // joins it
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

// jobResults describe the results that systemd documents (org.freedesktop.systemd1(5), JobRemoved).
var jobResults = map[jobResult]string{
	"failed":     "its job failed (result failed)",
	"timeout":    "its job timed out (result timeout)",
	"canceled":   "its job was canceled by another one (result canceled)",
	"dependency": "a unit that it depends on failed (result dependency)",
	"skipped":    "its job was skipped because it does not fit the unit's state (result skipped)",
}

// Error says what the result means.
func (r jobResult) Error() string {
	if text, known := jobResults[r]; known {
		return text
	}
	return fmt.Sprintf("its job ended with result %q", string(r))
}

// explain says how a unit is whose job did not succeed, as far as that can be known: "; it is
// failed (failed), result exit-code, exit status 203". It is asked for even when ctx is done.
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

// mainStatus says how a service's main process ended.
func mainStatus(code any, status int32) string {
	const exited = 1 // CLD_EXITED
	if code, ok := code.(int32); ok && code != exited {
		return fmt.Sprintf(", killed by signal %d", status)
	}
	return fmt.Sprintf(", exit status %d", status)
}
