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

// Now is the time: that of the program, and that of the API server where it is known, from its answers (RFC 9110: Date).
type Now struct{ Program, Server time.Time }

// at is the time by which tokens expire.
func (n Now) at() time.Time {
	if n.Server.IsZero() {
		return n.Program
	}
	return n.Server
}

// Skew is how far the program's clock is before the API server's; 0 where that is not known.
func (n Now) Skew() time.Duration {
	if n.Server.IsZero() {
		return 0
	}
	return n.Program.Sub(n.Server)
}

// Grant is what a launch gets.
type Grant struct {
	// Token is nil where the template needs none.
	Token *Token
	// Created says that it is a new one.
	Created bool
	// Skew is how far the program's clock is before the API server's. Whoever launches tells people of one that is more than
	// the policy's margin: the tokens are right, and other things are not.
	Skew time.Duration
}

// Grant returns a token for a launch: one that there is, or a new one. Where the template's node joins without one, none is asked
// for. The error is a [*TokenError]; then no machine is to be started.
func (k *TokenKeeper) Grant(ctx context.Context, t *Template, r Request, now Now) (Grant, error) {
	g := Grant{Skew: now.Skew()}
	if !t.NeedsToken() {
		return g, nil
	}
	if err := k.Policy.Check(); err != nil {
		return g, &TokenError{Reason: TokenPolicyInvalid, Err: err}
	}
	key := k.Policy.Key(r)
	for {
		f, own := k.board(key)
		if own {
			defer k.leave(key, f)
			f.token, g.Created, f.err = k.find(ctx, key, now.at())
			g.Token = f.token
			return g, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return g, &TokenError{Reason: TokensUnavailable, Err: context.Cause(ctx)}
		}
		if errors.Is(f.err, context.Canceled) || errors.Is(f.err, context.DeadlineExceeded) {
			continue // whoever was first has given up; that says nothing of this launch
		}
		g.Token = f.token
		return g, f.err
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

// find looks for a token that can be used, and creates one where there is none.
func (k *TokenKeeper) find(ctx context.Context, key string, now time.Time) (t *Token, created bool, err error) {
	all, err := k.Tokens.List(ctx)
	if err != nil {
		return nil, false, &TokenError{Reason: TokensUnavailable, Err: err}
	}
	if t := k.Policy.Choose(all, key, now); t != nil {
		return t, false, nil
	}
	fresh, err := k.Tokens.Create(ctx, k.Policy.New(key, now))
	if err != nil {
		return nil, false, &TokenError{Reason: TokenNotCreated, Err: err}
	}
	if err := k.Policy.Usable(&fresh, now); err != nil {
		return nil, false, &TokenError{Reason: TokenNotCreated, ID: fresh.ID(), Err: err}
	}
	return &fresh, true, nil
}

// Clean removes the tokens of ours that nobody needs. It tries all, and returns every error.
func (k *TokenKeeper) Clean(ctx context.Context, live func(key string) bool, now Now) error {
	all, err := k.Tokens.List(ctx)
	if err != nil {
		return &TokenError{Reason: TokensUnavailable, Err: err}
	}
	var failed []error
	for _, id := range k.Policy.Leftover(all, live, now.at()) {
		if err := k.Tokens.Delete(ctx, id); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
