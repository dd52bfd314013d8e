package launch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Tokens are the bootstrap tokens of a cluster. An adapter has them as Kubernetes' secrets.
type Tokens interface {
	// List returns all that there are now, and not those of a cache.
	List(ctx context.Context) ([]Token, error)
	// Create makes one as wanted, with a value that nobody can guess, and returns it.
	Create(ctx context.Context, wanted Token) (Token, error)
	// Delete removes the one with an ID. That there is none is no error.
	Delete(ctx context.Context, id string) error
}

// TokenKeeper gives launches their tokens. It may be used by several goroutines. Of several launches for one key that find no
// token one alone creates it, and the others take it.
type TokenKeeper struct {
	Tokens Tokens
	Policy TokenPolicy

	mu      sync.Mutex
	flights map[string]*flight
}

// flight is a creation that is under way.
type flight struct {
	done  chan struct{}
	token *Token
	err   error
}

// Grant returns a token for a launch: one that there is, or a new one; nil if the node joins without one. The time is the API server's,
// which decides when a token expires. The error is a [*TokenError], or of a launch that is nil; then no machine is to be started.
func (k *TokenKeeper) Grant(ctx context.Context, l *Launch, r Request, now time.Time) (*Token, error) {
	switch {
	case l == nil:
		return nil, errNoLaunch
	case !l.NeedsToken():
		return nil, nil
	}
	if err := k.Policy.Check(); err != nil {
		return nil, &TokenError{Reason: TokenPolicyInvalid, Err: err}
	}
	key := k.Policy.Key(r)
	for {
		f, own := k.board(key)
		if own {
			defer k.leave(key, f)
			f.token, f.err = k.find(ctx, key, now)
			return f.token, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, &TokenError{Reason: TokensUnavailable, Err: context.Cause(ctx)}
		}
		if errors.Is(f.err, context.Canceled) || errors.Is(f.err, context.DeadlineExceeded) {
			continue // the first caller has given up; that says nothing of this launch
		}
		return f.token, f.err
	}
}

// board returns the flight for a key, and whether it is the caller's own to do.
func (k *TokenKeeper) board(key string) (f *flight, own bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.flights[key]; f != nil {
		return f, false
	}
	if k.flights == nil {
		k.flights = make(map[string]*flight)
	}
	f = &flight{done: make(chan struct{})}
	k.flights[key] = f
	return f, true
}

// leave ends a flight.
func (k *TokenKeeper) leave(key string, f *flight) {
	k.mu.Lock()
	delete(k.flights, key)
	k.mu.Unlock()
	close(f.done)
}

// find looks for a token that can be used, and creates one if there is none.
func (k *TokenKeeper) find(ctx context.Context, key string, now time.Time) (*Token, error) {
	all, err := k.Tokens.List(ctx)
	if err != nil {
		return nil, &TokenError{Reason: TokensUnavailable, Err: err}
	}
	if t := k.Policy.choose(all, key, now); t != nil {
		return t, nil
	}
	fresh, err := k.Tokens.Create(ctx, k.Policy.newToken(key, now))
	if err != nil {
		return nil, &TokenError{Reason: TokenNotCreated, Err: err}
	}
	if err := k.Policy.Usable(&fresh, now); err != nil {
		return nil, &TokenError{Reason: TokenNotCreated, ID: fresh.ID(), Err: err}
	}
	return &fresh, nil
}

// Clean removes the tokens of ours that no launch needs, by the API server's time. It tries all, and returns every error.
func (k *TokenKeeper) Clean(ctx context.Context, live func(key string) bool, now time.Time) error {
	all, err := k.Tokens.List(ctx)
	if err != nil {
		return &TokenError{Reason: TokensUnavailable, Err: err}
	}
	var failed []error
	for _, id := range leftover(all, live, now) {
		if err := k.Tokens.Delete(ctx, id); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
