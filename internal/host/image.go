package host

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

// pullPause is the pause before an image is pulled again (AKS: retrycmd_pull_from_registry_with_oras).
const pullPause = 5 * time.Second

// PullImage makes the container runtime pull an image: first anonymously, and if that is refused, with the machine's
// identity. It tries until the image's timeout. Its error is a *apply.CheckError.
func (m *Machine) PullImage(ctx context.Context, i *resource.Image) error {
	limited, cancel := context.WithTimeout(ctx, i.Timeout.Std())
	defer cancel()
	token := ""
	for {
		err := m.pullOnce(limited, i, &token)
		if err == nil || !poll.Sleep(limited, pullPause) {
			return err
		}
	}
}

// pullOnce pulls an image. token is the last login's, which was refused or did not help; pullOnce sets it to the new
// login's.
func (m *Machine) pullOnce(ctx context.Context, i *resource.Image, token *string) error {
	failed := func(cause resource.Cause, err error) error {
		return &apply.CheckError{Cause: cause, Endpoint: i.Image, Err: err}
	}
	pull := func(login *cri.Login) error {
		return failpoint.Pass(failpoint.Change{Kind: failpoint.Pull, Name: i.Image}, func() error {
			return cri.PullImage(ctx, i.Socket, i.Image, login)
		})
	}
	err := pull(nil)
	if err == nil {
		return nil
	}
	if i.Provider != "" {
		login, refused := providerLogin(ctx, i)
		if refused != nil {
			return failed(resource.CauseUnhealthy, errors.Join(err, refused))
		}
		if err := pull(login); err != nil {
			return failed(resource.CauseRefused, err)
		}
		return nil
	}
	if i.Reach.Identity == nil {
		return failed(resource.CauseUnhealthy, err)
	}
	client, refused := m.fetcher(&i.Reach)
	if refused != nil {
		return refused
	}
	registry := i.Reach.Identity.Registry
	if *token, refused = client.Login(ctx, registry, *token); refused != nil {
		cause := resource.CauseIdentity
		if known, ok := errors.AsType[*fetch.LoginError](refused); ok {
			cause = loginCauses[known.Cause]
		}
		return failed(cause, errors.Join(err, refused))
	}
	if err := pull(&cri.Login{Server: registry, RefreshToken: *token}); err != nil {
		return failed(resource.CauseRefused, err)
	}
	return nil
}

var actionPull = records(failpoint.Pull, keyField, 0)

// HasImage reports whether pulling the image was recorded.
func (d *Directory) HasImage(_ context.Context, i *resource.Image) (bool, error) {
	return d.did(action{Action: actionPull, Key: i.Image})
}

// PullImage records the action: a directory has no container runtime.
func (d *Directory) PullImage(_ context.Context, i *resource.Image) error {
	return d.record(action{Action: actionPull, Key: i.Image})
}
