package poll_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if !poll.Sleep(ctx, time.Second/2) {
			t.Error("a context that is not done has ended the sleep")
		}
		if begin := time.Now(); poll.Sleep(ctx, time.Hour) || time.Since(begin) != time.Second/2 {
			t.Errorf("the sleep took %s, want it to end with its context", time.Since(begin))
		}
		if begin := time.Now(); poll.Sleep(ctx, time.Hour) || time.Since(begin) != 0 {
			t.Error("a context that is done did not end the sleep at once")
		}
	})
}

func TestUntilLooksLessAndLessOften(t *testing.T) {
	failed := errors.New("cannot look")
	for _, test := range []struct {
		name  string
		end   int // the number of the look that ends it; 0 means no end
		err   error
		want  error
		looks []time.Duration
	}{
		{"enough at once", 1, nil, nil, []time.Duration{0}},
		{"enough later", 4, nil, nil, []time.Duration{0, 1, 3, 6}},
		{"failure", 3, failed, failed, []time.Duration{0, 1, 3}},
		{"end of the context", 0, nil, context.DeadlineExceeded, []time.Duration{0, 1, 3, 6, 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				begin := time.Now()
				var looks []time.Duration
				err := poll.Until(ctx, time.Second, 3*time.Second, func() (bool, error) {
					looks = append(looks, time.Since(begin)/time.Second)
					if len(looks) == test.end {
						return test.err == nil, test.err
					}
					return false, nil
				})
				if !errors.Is(err, test.want) || !slices.Equal(looks, test.looks) {
					t.Errorf("looked at %v, error %v, want %v and %v", looks, err, test.looks, test.want)
				}
			})
		})
	}
}
