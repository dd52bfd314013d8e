package localdns

import (
	"context"
	"net/netip"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Machine is the machine as the supervisor needs it.
type Machine interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
	// WriteFileAtomic replaces a file, and makes the directories above it.
	WriteFileAtomic(file *resource.File) error
	// Remove removes a file; it is no error that there is none.
	Remove(path string) error
	// Exists reports whether there is anything at a path.
	Exists(path string) bool
	// Run runs a command to its end, and returns what it printed.
	Run(ctx context.Context, command *resource.Command) ([]byte, error)
	// Start starts a program that goes on.
	Start(argv []string) (Process, error)
	// NetworkFile is the path of the file by which systemd-networkd has configured the interface with the default route.
	NetworkFile() (string, error)
	// MakeDummy makes an interface that leads nowhere, brings it up, and gives it addresses. One that is there stays.
	MakeDummy(name string, addresses []netip.Prefix) error
	// RemoveInterface removes an interface; it is no error that there is none.
	RemoveInterface(name string) error
	// Fetch returns what is at a URL, without a proxy, where the status is 200.
	Fetch(ctx context.Context, url string) (string, error)
	// Exchange sends a DNS message to a server by UDP, with an ID of its own in its first two bytes, and returns the
	// message with that ID that comes back.
	Exchange(ctx context.Context, server netip.AddrPort, message []byte) ([]byte, error)
}

// Process is a program that runs.
type Process interface {
	// Interrupt asks it to end (SIGINT), Kill ends it.
	Interrupt() error
	Kill() error
	// Done has one value when it has ended: how.
	Done() <-chan error
}

// Notifier is who started the supervisor, and wants to know how it is.
type Notifier interface {
	Ready()
	Status(text string)
	Alive()
	Stopping()
}
