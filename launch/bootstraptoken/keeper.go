package bootstraptoken

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
)

// Store is a cluster's bootstrap tokens. Adapters implement it with Kubernetes' secrets.
type Store interface {
	// List returns all tokens of the cluster, and not those of a cache.
	List(ctx context.Context) ([]Token, error)
	// Create creates a token with a random value, and returns it.
	Create(ctx context.Context, wanted Token) (Token, error)
	// Delete removes the token with an ID. If the token does not exist, it returns nil.
	Delete(ctx context.Context, id string) error
}

// Keeper gives tokens to launches. Several goroutines may use it. If several launches with one key find no token, one of them creates it,
// and the others use it too.
type Keeper struct {
	Store  Store
	Policy Policy

	calls singleflight.Group
}

// Grant returns a token for a launch with a key ([Policy.Key]): an existing one, or a new one. The time is the API server's. The error is an
// [*Error]; the caller then starts no machine.
func (k *Keeper) Grant(ctx context.Context, key string, now time.Time) (*Token, error) {
	if err := k.Policy.Check(); err != nil {
		return nil, &Error{Reason: PolicyInvalid, Err: err}
	}
	for {
		own := false
		call := k.calls.DoChan(key, func() (any, error) {
			own = true
			return k.find(ctx, key, now)
		})
		select {
		case result := <-call:
			token, _ := result.Val.(*Token)
			if !own && (errors.Is(result.Err, context.Canceled) || errors.Is(result.Err, context.DeadlineExceeded)) {
				continue // the caller that searched has given up; this one has not
			}
			return token, result.Err
		case <-ctx.Done():
			return nil, &Error{Reason: Unavailable, Err: context.Cause(ctx)}
		}
	}
}

// find returns a usable token. If the cluster does not have one, it creates one.
func (k *Keeper) find(ctx context.Context, key string, now time.Time) (*Token, error) {
	all, err := k.Store.List(ctx)
	if err != nil {
		return nil, &Error{Reason: Unavailable, Err: err}
	}
	if t := k.Policy.choose(all, key, now); t != nil {
		return t, nil
	}
	created, err := k.Store.Create(ctx, k.Policy.newToken(key, now))
	if err != nil {
		return nil, &Error{Reason: NotCreated, Err: err}
	}
	if err := k.Policy.Usable(&created, now); err != nil {
		return nil, &Error{Reason: NotCreated, ID: created.ID(), Err: err}
	}
	return &created, nil
}

// Clean removes the keeper's tokens that no launch needs: expired ones, and those of keys that are not live. A claim's key is live until
// its node is Ready or the claim is gone. The time is the API server's. Clean tries to remove each token, and returns all errors.
func (k *Keeper) Clean(ctx context.Context, live func(key string) bool, now time.Time) error {
	all, err := k.Store.List(ctx)
	if err != nil {
		return &Error{Reason: Unavailable, Err: err}
	}
	var failed []error
	for _, id := range unneeded(all, live, now) {
		if err := k.Store.Delete(ctx, id); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
