package host

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cri"
)

// RuntimeConditions returns the conditions of the container runtime at a socket.
func (m *Machine) RuntimeConditions(ctx context.Context, socket string) ([]cri.Condition, error) {
	return cri.Conditions(ctx, socket)
}

// RuntimeConditions is unknown: a directory has no runtime.
func (d *Directory) RuntimeConditions(context.Context, string) ([]cri.Condition, error) {
	return nil, apply.ErrNotProbed
}

// CgroupDriver returns the runtime's cgroup driver. It is empty if the runtime does not report it.
func (m *Machine) CgroupDriver(ctx context.Context, socket string) (string, error) {
	return cri.CgroupDriver(ctx, socket)
}

// CgroupDriver is unknown: a directory has no runtime.
func (d *Directory) CgroupDriver(context.Context, string) (string, error) {
	return "", apply.ErrNotProbed
}

// Sandboxes returns the sandboxes of a runtime.
func (m *Machine) Sandboxes(ctx context.Context, socket string) ([]cri.Sandbox, error) {
	return cri.Sandboxes(ctx, socket)
}

// Sandboxes is unknown: a directory has no runtime.
func (d *Directory) Sandboxes(context.Context, string) ([]cri.Sandbox, error) {
	return nil, apply.ErrNotProbed
}

// Containers returns the containers of a sandbox.
func (m *Machine) Containers(ctx context.Context, socket, sandbox string) ([]cri.Container, error) {
	return cri.Containers(ctx, socket, sandbox)
}

// Containers is unknown: a directory has no runtime.
func (d *Directory) Containers(context.Context, string, string) ([]cri.Container, error) {
	return nil, apply.ErrNotProbed
}

// ContainerEnd returns how a container has ended.
func (m *Machine) ContainerEnd(ctx context.Context, socket, container string) (cri.Ended, error) {
	return cri.End(ctx, socket, container)
}

// ContainerEnd is unknown: a directory has no runtime.
func (d *Directory) ContainerEnd(context.Context, string, string) (cri.Ended, error) {
	return cri.Ended{}, apply.ErrNotProbed
}
