package transition

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

// GuardTrial has systemd roll the next generation back should this run die before somebody could confirm it. The change
// that is returned says when. One that is no trial, or nothing new, needs no guard.
func (n *Node) GuardTrial(ctx context.Context, store *generation.Store, change Change) (Change, error) {
	settled, err := change.settled(store)
	if err != nil || change.Try == 0 || settled {
		return change, err
	}
	if _, found := store.LastGood(); !found {
		return change, outcome.Refused("there is no good generation to roll back to: apply without --try")
	}
	number, err := store.Next(change.Entry, change.Plan)
	if err != nil {
		return change, err
	}
	change.Entry.ConfirmBy, err = scheduleRevert(ctx, n, number, change.Timeout+revertTimeout+change.Try)
	return change, err
}

// await gives somebody the time that was asked for, from now on, to confirm the current generation.
func (t *attempt) await(ctx context.Context) error {
	current, _ := t.store.Current()
	until, err := scheduleRevert(ctx, t.Node, current.Number, t.change.Try)
	if err != nil {
		return err
	}
	if err := t.store.Await(until); err != nil {
		return err
	}
	t.made.ConfirmBy = until
	cancelRevert(ctx, t.Node, current)
	return nil
}

// stillTried is what a change comes to that was made already, on trial, and that nobody has confirmed, once the machine is
// as that has it: the trial begins again where that is asked for, and goes on otherwise.
func (t *attempt) stillTried(ctx context.Context, current generation.Entry) error {
	if t.change.Try > 0 {
		return t.await(ctx)
	}
	t.made.ConfirmBy = current.ConfirmBy
	return nil
}

// scheduleRevert has systemd roll a generation back after a time, and returns when that is.
func scheduleRevert(ctx context.Context, n *Node, number int, after time.Duration) (time.Time, error) {
	seconds := int((after + time.Second - 1) / time.Second)
	until := n.Now().Add(time.Duration(seconds) * time.Second).Truncate(time.Second)
	output, err := n.Host.Run(ctx, &resource.Command{
		Label: "schedule-revert",
		Argv: []string{"systemd-run", "--quiet", "--collect", "--unit=" + revertUnit(number, until),
			"--on-active=" + strconv.Itoa(seconds) + "s", n.Program, "rollback",
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
func cancelRevert(ctx context.Context, n *Node, e generation.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	unit := revertUnit(e.Number, e.ConfirmBy) + ".timer"
	if err := n.guarded(func() error { return n.Host.StopUnit(ctx, unit) }); err != nil {
		n.Log.Warn("cannot stop the rollback timer; it will do nothing", "error", err)
	}
}

// Confirm makes a generation stay that was applied on trial, and returns it.
func (n *Node) Confirm(ctx context.Context, store *generation.Store) (generation.Entry, error) {
	current, found := store.Current()
	if !found || current.ConfirmBy.IsZero() {
		return current, outcome.Refused("no generation waits to be confirmed")
	}
	if current.Outcome != generation.Good {
		return current, outcome.Refused("generation %d is %s: its change did not come to its end, so there is nothing to confirm; apply it again",
			current.Number, current.Outcome)
	}
	if err := n.EndTrial(ctx, store); err != nil {
		return current, err
	}
	current.ConfirmBy = time.Time{}
	return current, nil
}

// EndTrial has nobody wait for the current generation to be confirmed any more, and stops its timer.
func (n *Node) EndTrial(ctx context.Context, store *generation.Store) error {
	current, _ := store.Current()
	if current.ConfirmBy.IsZero() {
		return nil
	}
	if err := store.Await(time.Time{}); err != nil {
		return err
	}
	cancelRevert(ctx, n, current)
	return nil
}
