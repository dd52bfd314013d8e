package karpenter

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Machines starts and stops the machines of one cluster. Its methods may be called by several goroutines. An error must not
// repeat the user data.
type Machines interface {
	// Start starts a machine, and returns when the cloud has accepted it. Of a name that there is already it returns that
	// machine, and starts none. The error wraps a [*LaunchError] where the cloud says why it starts none.
	Start(ctx context.Context, l Launch) (*Machine, error)
	// Update changes a machine that runs. The agent on the machine applies the user data and reports it. The error wraps
	// [ErrNotFound], or [ErrFixed] where the machine cannot be changed.
	Update(ctx context.Context, id string, l Launch) error
	// Stop ends a machine. That it is ending already is no error. The error wraps [ErrNotFound] when it is gone.
	Stop(ctx context.Context, id string) error
	// Get returns a machine. The error wraps [ErrNotFound].
	Get(ctx context.Context, id string) (*Machine, error)
	// List returns all machines that Start has started for this cluster, and that are not gone.
	List(ctx context.Context) ([]Machine, error)
}

// What the errors of [Machines] wrap.
var (
	// ErrNotFound says that there is no such machine.
	ErrNotFound = errors.New("there is no such machine")
	// ErrFixed says that the user data of a machine that runs cannot be changed.
	ErrFixed = errors.New("the user data of a machine that runs cannot be changed")
)

// Launch is what a machine is made of, or changed to.
type Launch struct {
	// Name is the claim's. It names the machine.
	Name string
	// Launch has the machine's image, size, disk, network and tags ([launch.Machine]), and the key.
	Launch *launch.Launch
	// UserData is in base64, as clouds take it. It holds the bootstrap token. In an update it is empty where the node's
	// contract stays as it is, and it never holds a token that is valid: the node has joined.
	UserData nodeconfig.Secret
}

// Machine is one that was started.
type Machine struct {
	// ID is the provider ID that its Node has in spec.providerID.
	ID string
	// Name is the claim's that it was started for.
	Name string
	// Key is that of the launch it was started from; empty where that is not known.
	Key string
	// Type, Zone, CapacityType and Image are what it was started with; empty where that is not known.
	Type, Zone, CapacityType, Image string
	// Created is when it was started.
	Created time.Time
	// Stopping says that it is ending.
	Stopping bool
	// Report is what it has said last of its provisioning or of a change: its status.json, its provision.json, or the message
	// of Azure's extension. It is empty as long as there is none. Only a status.json says that a change was applied.
	Report []byte
}
