package launch

import "time"

// Window is a span of time.
type Window struct{ Start, End time.Time }

// Contains reports whether a time is in the window. The end is not.
func (w Window) Contains(t time.Time) bool { return !t.Before(w.Start) && t.Before(w.End) }
