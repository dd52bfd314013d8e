package doctor

import (
	"context"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Machine is what the checks ask. It only answers: none of its methods changes anything.
type Machine interface {
	Files
	Surroundings
	Insides
}

// Files are the machine's files.
type Files = kubeletsetup.Files

// Surroundings are the machine's clock, network, cloud and cluster.
type Surroundings interface {
	// Platform is the machine's cloud (facts.Platform), or "".
	Platform() string
	// ClockState is what the kernel knows about its clock.
	ClockState() (host.ClockState, error)
	// Interfaces are the network interfaces without loopback, with their addresses.
	Interfaces() ([]facts.Interface, error)
	// Exchange sends a DNS message by UDP to the server at HOST:PORT, with a new ID in its first two bytes, and returns
	// the server's message with that ID.
	Exchange(ctx context.Context, server string, message []byte) ([]byte, error)
	// Attempt makes one attempt to get an answer from a server.
	Attempt(ctx context.Context, a *host.Attempt) *host.Outcome
	// AskMetadata asks a cloud's metadata service for the description of the machine, once, and AskWireServer Azure's wire
	// server for the goal state. The error is a *metadata.Error.
	AskMetadata(ctx context.Context, cloud string) (metadata.Seen, error)
	AskWireServer(ctx context.Context) (metadata.Seen, error)
	// HasImage reports whether the container runtime holds an image.
	HasImage(ctx context.Context, image *resource.Image) (bool, error)
	// RunPlugin runs a credential plug-in, and returns its answer, which is secret.
	RunPlugin(ctx context.Context, argv []string, env map[string]string) ([]byte, error)
}

var (
	_ Surroundings = (*host.Machine)(nil)
	_ Surroundings = (*host.Directory)(nil)
)
