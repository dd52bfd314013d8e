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

// askEvery is how often the API server is asked for its time.
const askEvery = 10 * time.Minute

// serverClock knows how far the API server's clock is off, which decides when a token expires.
type serverClock struct {
	clock clock.Clock
	// ask asks the server; nil where only what it has created shows the time.
	ask func(context.Context) (time.Time, error)

	mu    sync.Mutex
	asked time.Time
	// ahead is how far the server's clock is before the program's; 0 if that is not known.
	ahead time.Duration
}

// now is the time of the API server, or of the program if the server's is not known, and how far the server's clock is ahead of the
// program's. A server that does not answer changes nothing of what is known.
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

// created takes the time at which the server says that it has just created something, where nobody asks it.
func (s *serverClock) created(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ask == nil && !at.IsZero() {
		s.ahead = at.Sub(s.clock.Now())
	}
}

// ServerDate asks an API server for its time: by the Date of an answer (RFC 9110), in whole seconds.
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
		if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)); err != nil { // so that the connection is kept
			return time.Time{}, fmt.Errorf("the time of the API server: %w", err)
		}
		at, err := http.ParseTime(answer.Header.Get("Date"))
		if err != nil {
			return time.Time{}, fmt.Errorf("%s does not say its time: %w", address, err)
		}
		return at, nil
	}, nil
}
