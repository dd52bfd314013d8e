package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// steadyInterval is how often a unit is looked at that must stay active.
const steadyInterval = 200 * time.Millisecond

// staysActive watches a unit that is active for a time. It returns an error, which says how the unit is,
// as soon as that ends, or where it has been started again in between.
func (s *systemd) staysActive(ctx context.Context, unit string, span time.Duration) error {
	end := time.Now().Add(span)
	first, err := s.invocation(ctx, unit)
	if err != nil {
		return err
	}
	for time.Now().Before(end) {
		if !sleep(ctx, steadyInterval) {
			return fmt.Errorf("is not seen to stay active for %s: %w", span, ctx.Err())
		}
		state, err := s.state(ctx, unit)
		if err != nil {
			return err
		}
		if !isActive(state) {
			return fmt.Errorf("does not stay active: is %s", describe(state))
		}
		now, err := s.invocation(ctx, unit)
		if err != nil {
			return err
		}
		if now != first {
			return errors.New("does not stay active: it ended, and was started again")
		}
	}
	return nil
}

// invocation tells one start of a unit from the next (systemd.exec(5), $INVOCATION_ID).
func (s *systemd) invocation(ctx context.Context, unit string) (string, error) {
	properties, err := s.properties(ctx, unitObject(unit), unitInterface)
	if err != nil {
		return "", fmt.Errorf("invocation of %s: %w", unit, err)
	}
	id, _ := properties["InvocationID"].([]byte)
	return string(id), nil
}
