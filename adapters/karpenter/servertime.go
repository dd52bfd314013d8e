package karpenter

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// askEvery is the interval at which the API server's time is read.
const askEvery = 10 * time.Minute

// serverClock knows the difference to the API server's clock, which decides when a token expires.
type serverClock struct {
	clock clock.Clock
	// ask returns the server's time. If nil, only the objects that the server creates show it.
	ask func(context.Context) (time.Time, error)

	mu    sync.Mutex
	asked time.Time
	// ahead is how far the server's clock is ahead of the program's. 0 if unknown.
	ahead time.Duration
}

// now is the API server's time, or the program's if the server's is unknown, and how far the server's clock is ahead of the
// program's. If the server does not answer, the last known difference stays.
func (s *serverClock) now(ctx context.Context) (now time.Time, ahead time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ask != nil && (s.asked.IsZero() || s.clock.Since(s.asked) >= askEvery) {
		s.asked = s.clock.Now()
		if server, err := s.ask(ctx); err == nil {
			s.ahead = server.Sub(s.clock.Now())
		}
	}
	return s.clock.Now().Add(s.ahead), s.ahead
}

// created learns the server's time from an object that the server has just created. It is used only if ask is nil.
func (s *serverClock) created(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ask == nil && !at.IsZero() {
		s.ahead = at.Sub(s.clock.Now())
	}
}

// ServerDate returns a function that reads an API server's time from the Date of an answer (RFC 9110), in whole seconds.
func ServerDate(config *rest.Config) (func(context.Context) (time.Time, error), error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("the time of the API server: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the time of the API server: %w", err)
	}
	address := base.JoinPath("version").String()
	return func(ctx context.Context) (time.Time, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return time.Time{}, err
		}
		answer, err := httpClient.Do(request)
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the API server: %w", err)
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)); err != nil { // read to the end, so that the connection is reused
			return time.Time{}, fmt.Errorf("the time of the API server: %w", err)
		}
		at, err := http.ParseTime(answer.Header.Get("Date"))
		if err != nil {
			return time.Time{}, fmt.Errorf("%s does not say its time: %w", address, err)
		}
		return at, nil
	}, nil
}
