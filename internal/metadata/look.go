package metadata

import (
	"context"
	"net/http"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
)

// Seen is what one request to a cloud's server shows.
type Seen struct {
	// Instance is the cloud's description of the machine. The wire server has none.
	Instance facts.Instance
	// Date is the time of the answer by the server's clock, or zero.
	Date time.Time
}

// Look asks once for the cloud's description of the machine. The error is an *Error.
func (s *Service) Look(ctx context.Context) (Seen, error) {
	return once(ctx, func(ctx context.Context) (Seen, *failure) {
		got, f := s.read(ctx, s.instance, "")
		if f != nil {
			return Seen{}, f
		}
		seen := Seen{Date: dateOf(got.header)}
		var ok bool
		if seen.Instance, ok = s.describe(got.body); !ok {
			return seen, failed(got.url, WrongType, "the answer is not an instance document")
		}
		return seen, nil
	})
}

// Look asks once for the machine's goal state, which every report begins with. The error is an *Error.
func (w *WireServer) Look(ctx context.Context) (Seen, error) {
	return once(ctx, func(ctx context.Context) (Seen, *failure) {
		got, f := w.ask(ctx, http.MethodGet, goalStatePath, "")
		if f != nil {
			return Seen{}, f
		}
		if _, ok := parseGoalState(got.body); !ok {
			return Seen{}, failed(wireAddress+goalStatePath, WrongType, "the answer is not a goal state")
		}
		return Seen{Date: dateOf(got.header)}, nil
	})
}

func dateOf(header http.Header) time.Time {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}
