package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A change on trial is rolled back by a timer of systemd's, because whoever asked for the change may have lost the
// machine by it. There are two timers, one after the other. The first is there before anything is changed, for a run
// that dies; it gives the run all the time that it may take. The second begins when the change is made, and gives
// whoever has to confirm it the time that was asked for. The generation's record says until when it waits, and a
// timer is void unless it is the one of that time: so no timer of an earlier attempt ends a later one.

// revertUnit is the timer that rolls a generation back that nobody has confirmed until then.
func revertUnit(number int, until time.Time) string {
	return fmt.Sprintf("slipway-revert-%d-%d", number, until.Unix())
}

// guard has systemd roll the next generation back should this run die, and returns when.
func (c *change) guard(ctx context.Context, store *generation.Store, desired resource.Plan) (time.Time, error) {
	number, err := store.Next(desired)
	if err != nil {
		return time.Time{}, err
	}
	return c.scheduleRevert(ctx, number, c.timeout+revertTimeout+c.try)
}

// await gives somebody the time that was asked for, from now on, to confirm the current generation.
func (c *change) await(ctx context.Context, store *generation.Store) error {
	current, _ := store.Current()
	until, err := c.scheduleRevert(ctx, current.Number, c.try)
	if err != nil {
		return err
	}
	if err := store.Await(until); err != nil {
		return err
	}
	c.confirmBy = until
	c.cancelRevert(ctx, current)
	return nil
}

// stillTried is what a change comes to that was made already, on trial, and that nobody has confirmed, once the machine is
// as that has it: the trial begins again where that is asked for, and goes on otherwise.
func (c *change) stillTried(ctx context.Context, store *generation.Store, current generation.Entry) error {
	if c.try > 0 {
		return c.await(ctx, store)
	}
	c.confirmBy = current.ConfirmBy
	return nil
}

// scheduleRevert has systemd roll a generation back after a time, and returns when that is.
func (c *change) scheduleRevert(ctx context.Context, number int, after time.Duration) (time.Time, error) {
	seconds := int((after + time.Second - 1) / time.Second)
	until := c.Now().Add(time.Duration(seconds) * time.Second).Truncate(time.Second)
	output, err := c.Host.Run(ctx, &resource.Command{
		Label: "schedule-revert",
		Argv: []string{"systemd-run", "--quiet", "--collect", "--unit=" + revertUnit(number, until),
			"--on-active=" + strconv.Itoa(seconds) + "s", c.Program, "rollback",
			"--unconfirmed", strconv.Itoa(number), "--until", strconv.FormatInt(until.Unix(), 10)},
		Timeout: nodeconfig.Duration(30 * time.Second),
	})
	if err != nil {
		if said := strings.TrimSpace(string(output)); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return until, fmt.Errorf("schedule the rollback: %w", err)
	}
	return until, nil
}

// cancelRevert stops the timer of a generation's record. One that cannot be stopped finds that the record does not
// wait for it any more, and does nothing.
func (a *Agent) cancelRevert(ctx context.Context, e generation.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	unit := revertUnit(e.Number, e.ConfirmBy) + ".timer"
	if err := a.guarded(func() error { return a.Host.StopUnit(ctx, unit) }); err != nil {
		a.Log.Warn("cannot stop the rollback timer; it will do nothing", "error", err)
	}
}

// Confirm makes a generation stay that was applied on trial, and returns it.
func (a *Agent) Confirm(ctx context.Context) (kept generation.Entry, err error) {
	err = a.guarded(func() (err error) { kept, err = a.withRoom(false).confirm(ctx); return err })
	return kept, err
}

func (a *Agent) confirm(ctx context.Context) (generation.Entry, error) {
	unlock, err := a.exclusive(ctx, nodeconfig.DefaultTimeout.Std())
	if err != nil {
		return generation.Entry{}, err
	}
	defer unlock()
	store, err := generation.Open(a.Host, a.Log)
	if err != nil {
		return generation.Entry{}, err
	}
	current, found := store.Current()
	if !found || current.ConfirmBy.IsZero() {
		return current, outcome.Refused("no generation waits to be confirmed")
	}
	if current.Outcome != generation.Good {
		return current, outcome.Refused("generation %d is %s: its change did not come to its end, so there is nothing to confirm; apply it again",
			current.Number, current.Outcome)
	}
	if err := store.Await(time.Time{}); err != nil {
		return current, err
	}
	a.cancelRevert(ctx, current)
	current.ConfirmBy = time.Time{}
	return current, nil
}
