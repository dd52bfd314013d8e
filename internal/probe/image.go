package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/grpc"
	"github.com/slipway-dev/slipway/internal/resource"
)

// HasImage reports whether the container runtime has an image. A runtime that was just started answers each request
// with an error until it is initialized (containerd: internal/cri/instrument, checkInitialized), which takes seconds on
// a slow disk. So HasImage repeats the request until it has an answer, for at most the image's timeout. The error has
// the last answer. If the runtime does not listen, or has no CRI plug-in, HasImage fails at once: systemd reports
// containerd as started when it listens.
func (Cluster) HasImage(ctx context.Context, image *resource.Image) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, image.Timeout.Std())
	defer cancel()
	var has bool
	var final error
	err := persist(ctx, func(ctx context.Context) (err error) {
		has, err = cri.HasImage(ctx, image.Socket, image.Image)
		if err != nil && !mayChange(err) {
			final, err = err, nil
		}
		return err
	})
	if err := errors.Join(final, err); err != nil {
		return false, fmt.Errorf("image %s: %w", image.Image, err)
	}
	return has, nil
}

// mayChange reports whether a starting runtime may answer differently later.
func mayChange(err error) bool {
	if status, ok := errors.AsType[*grpc.StatusError](err); ok {
		return status.Code != grpc.Unimplemented
	}
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED)
}
