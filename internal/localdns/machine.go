package localdns

import (
	"context"
	"net/netip"
	"os"

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
	// Start starts a program that goes on. signal sends it a signal, and is an error where it has ended. ended has one value when
	// it has: how.
	Start(argv []string) (signal func(os.Signal) error, ended <-chan error, err error)
	// NetworkFile is the path of the file by which systemd-networkd has configured the interface with the default route.
	NetworkFile() (string, error)
	// OfferedServers are the DNS servers that DHCP has named last on that interface, whoever is asked.
	OfferedServers() ([]netip.Addr, error)
	// MakeDummy makes an interface that leads nowhere, brings it up, and gives it addresses. One that is there stays.
	MakeDummy(name string, addresses []netip.Addr) error
	// RemoveInterface removes an interface; it is no error that there is none.
	RemoveInterface(name string) error
	// Fetch returns what is at a URL, without a proxy, where the status is 200.
	Fetch(ctx context.Context, url string) (string, error)
	// Exchange sends a DNS message to the server at HOST:PORT by UDP, with an ID of its own in its first two bytes, and returns the
	// message with that ID that comes back.
	Exchange(ctx context.Context, server string, message []byte) ([]byte, error)
}

// Notifier is who started the supervisor, and wants to know how it is.
type Notifier interface {
	Ready()
	Status(text string)
	Alive()
	Stopping()
}
