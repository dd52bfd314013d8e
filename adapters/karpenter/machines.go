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
	// Start starts a machine, and returns when the cloud has accepted it. If a machine of this name exists, Start returns it and
	// starts none. The error wraps a [*LaunchError] if the cloud gives a reason.
	Start(ctx context.Context, l Launch) (*Machine, error)
	// Update changes a machine that runs. The agent on the machine applies the user data and reports it. The error wraps
	// [ErrNotFound], or [ErrFixed] where the machine cannot be changed.
	Update(ctx context.Context, id string, l Launch) error
	// Stop ends a machine. A machine that is ending already is no error. The error wraps [ErrNotFound] if it is gone.
	Stop(ctx context.Context, id string) error
	// Get returns a machine. The error wraps [ErrNotFound].
	Get(ctx context.Context, id string) (*Machine, error)
	// List returns all machines that Start has started for this cluster and that still exist.
	List(ctx context.Context) ([]Machine, error)
}

// What the errors of [Machines] wrap.
var (
	// ErrNotFound: the machine does not exist.
	ErrNotFound = errors.New("there is no such machine")
	// ErrFixed: the user data of a running machine cannot be changed.
	ErrFixed = errors.New("the user data of a machine that runs cannot be changed")
)

// Launch describes a machine to start, or what to change a machine to.
type Launch struct {
	// Name is the claim's. It names the machine.
	Name string
	// Launch has the machine's image, size, disk, network and tags ([launch.Machine]), and the key.
	Launch *launch.Launch
	// UserData is in base64, as clouds take it. It contains the bootstrap token. In an update it is empty if the node's contract
	// does not change, and it never contains a valid token, because the node has joined.
	UserData nodeconfig.Secret
}

// Machine is a machine that Start has started.
type Machine struct {
	// ID is the provider ID that its Node has in spec.providerID.
	ID string
	// Name is the name of the claim that it was started for.
	Name string
	// Key is the key of the launch that it was started from. Empty means unknown.
	Key string
	// Type, Zone, CapacityType and Image are what it was started with. Empty means unknown.
	Type, Zone, CapacityType, Image string
	// Created is when it was started.
	Created time.Time
	// Stopping reports whether the machine is ending.
	Stopping bool
	// Report is the machine's last report of its provisioning or of a change: its status.json, its provision.json, or the message
	// of Azure's extension. It is empty until the first report. Only a status.json reports that a change was applied.
	Report []byte
}
