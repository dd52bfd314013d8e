package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The manager's methods that start a job.
const (
	startMethod   = "StartUnit"
	restartMethod = "RestartUnit"
	stopMethod    = "StopUnit"
)

// errUnfinished says that a job was not done in time. It goes on.
var errUnfinished = errors.New("its job is not done")

// job starts, restarts or stops a unit, and returns when systemd says what became of it.
func (s *systemd) job(ctx context.Context, method, unit string) error {
	verb := strings.ToLower(strings.TrimSuffix(method, "Unit"))
	if err := checkUnit(unit); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	var result string
	asked := request{method: method, unit: unit}
	err := s.do(ctx, func(conn bus) (err error) {
		if result, err = asked.look(ctx, conn); err != nil || result != "" {
			return err
		}
		done := make(chan string, 1)
		err = pass(mutation{kind: mutationKind(verb), name: unit}, func() error {
			return conn.enqueue(ctx, asked.method, unit, done)
		})
		if err != nil {
			return err
		}
		select {
		case result = <-done:
			return nil
		case <-conn.lost():
			return errLost // the job is lost sight of, and goes on
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errUnfinished, ctx.Err())
		}
	})
	if err == nil && result == "done" {
		return nil
	}
	switch {
	case errors.Is(err, errNoUnit), errors.Is(err, errMasked):
		return fmt.Errorf("%s %s: %w", verb, unit, err)
	case err != nil:
		return fmt.Errorf("%s %s: %w%s", verb, unit, err, s.explain(ctx, unit))
	}
	return fmt.Errorf("%s %s: %w%s", verb, unit, jobResult(result), s.explain(ctx, unit))
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
func (r *request) look(ctx context.Context, conn bus) (result string, err error) {
	if r.method == stopMethod {
		return "", nil // it can be asked for again
	}
	properties, err := conn.properties(ctx, unitObject(r.unit), unitInterface)
	switch {
	case errors.Is(err, errLost), ctx.Err() != nil:
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

// Error says what the result means.
func (r jobResult) Error() string {
	switch r {
	case "failed":
		return "its job failed (result failed)"
	case "timeout":
		return "its job timed out (result timeout)"
	case "canceled":
		return "its job was canceled by another one (result canceled)"
	case "dependency":
		return "a unit that it depends on failed (result dependency)"
	case "skipped":
		return "its job was skipped because it does not fit the unit's state (result skipped)"
	}
	return fmt.Sprintf("its job ended with result %q", string(r))
}

// explain says how a unit is whose job did not succeed, as far as that can be known: "; it is
// failed (failed), result exit-code, exit status 203". It is asked for even when ctx is done.
func (s *systemd) explain(ctx context.Context, unit string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTimeout)
	defer cancel()
	conn, err := s.bus(ctx)
	if err != nil {
		return ""
	}
	state, err := readState(ctx, conn, unit)
	if err != nil {
		return ""
	}
	text := "; it is " + describe(state)
	if iface := typeInterface(unit); strings.HasSuffix(iface, ".Service") && state.LoadState == "loaded" {
		properties, err := conn.properties(ctx, unitObject(unit), iface)
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
