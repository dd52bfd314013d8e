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

// A timer of systemd's rolls back a change on trial, because the change may have cut off the administrator who asked for it.
// There are two timers, one after the other. The first exists before the agent changes anything, in case the run dies;
// it allows the run its maximum time. The second starts when the change is made, and gives the administrator the requested time
// to confirm it. The generation's record holds the time until which it waits. A timer with another time has no effect, so no
// timer of an earlier attempt ends a later one.

// revertUnit returns the name of the timer that rolls an unconfirmed generation back at that time.
func revertUnit(number int, until time.Time) string {
	return fmt.Sprintf("slipway-revert-%d-%d", number, until.Unix())
}

// GuardTrial has systemd roll the next generation back if this run dies before the change can be confirmed. The returned change
// holds the time. A change without a trial, or without a difference, needs no guard.
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

// await gives the administrator the requested time, from now on, to confirm the current generation.
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

// stillTried returns the outcome for a change that was made already and is on trial, unconfirmed, once the machine matches it.
// If the caller asks for a trial, the trial starts again; otherwise it goes on.
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

// cancelRevert stops the timer of a generation's record. A timer that cannot be stopped finds that the record does not wait
// any more, and does nothing.
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

// EndTrial ends the current generation's wait for confirmation, and stops its timer.
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
