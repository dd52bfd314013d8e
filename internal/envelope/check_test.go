package envelope_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

// outcome names an error's type, empty for none.
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

// measured opens data, and reports how much was allocated for it in total, and not at one time.
func measured(data []byte) (envelope.Contract, uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := envelope.Open(data, places)
	runtime.ReadMemStats(&after)
	return c, after.TotalAlloc - before.TotalAlloc, err
}
