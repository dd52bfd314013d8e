package envelope_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

// outcome is the name of an error's type, or "".
func outcome(err error) string {
	if err == nil {
		return ""
	}
	for _, is := range []struct {
		name string
		as   func(error) bool
	}{
		{"none", func(err error) bool {
			_, ok := errors.AsType[*envelope.NoneError](err)
			return ok && errors.Is(err, envelope.ErrNone)
		}},
		{"limit", func(err error) bool { _, ok := errors.AsType[*envelope.LimitError](err); return ok }},
		{"broken", func(err error) bool { _, ok := errors.AsType[*envelope.BrokenError](err); return ok }},
		{"ambiguous", func(err error) bool { _, ok := errors.AsType[*envelope.AmbiguousError](err); return ok }},
	} {
		if is.as(err) {
			return is.name
		}
	}
	return "untyped"
}

func checkTyped(t testing.TB, err error) {
	t.Helper()
	if outcome(err) == "untyped" {
		t.Fatalf("an error of no type: %v", err)
	}
}

// measured opens data, and returns the total of the allocations for it.
func measured(data []byte) (envelope.Contract, uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := envelope.Open(data, places)
	runtime.ReadMemStats(&after)
	return c, after.TotalAlloc - before.TotalAlloc, err
}
