package localdns

import (
	"context"
	"net/netip"
	"os"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Machine is the part of the machine that the supervisor uses.
type Machine interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
	// WriteFileAtomic replaces a file, and creates the directories above it.
	WriteFileAtomic(file *resource.File) error
	// Remove removes a file. If it is missing, that is not an error.
	Remove(path string) error
	// Exists reports whether a path exists.
	Exists(path string) bool
	// Run runs a command to its end, and returns its output.
	Run(ctx context.Context, command *resource.Command) ([]byte, error)
	// Start starts a program that keeps running. signal sends it a signal, and returns an error after its end. ended
	// gets one value at its end: the result.
	Start(argv []string) (signal func(os.Signal) error, ended <-chan error, err error)
	// NetworkFile is the path of the file with which systemd-networkd has configured the interface with the default
	// route.
	NetworkFile() (string, error)
	// OfferedServers are the DNS servers in the last DHCP lease of that interface. The resolver may use others.
	OfferedServers() ([]netip.Addr, error)
	// MakeDummy creates a dummy interface, brings it up, and gives it addresses. An existing one stays.
	MakeDummy(name string, addresses []netip.Addr) error
	// RemoveInterface removes an interface. If it is missing, that is not an error.
	RemoveInterface(name string) error
	// Fetch returns the body of a URL, without a proxy, if the status is 200.
	Fetch(ctx context.Context, url string) (string, error)
	// Exchange sends a DNS message by UDP to the server at HOST:PORT, with a new ID in its first two bytes, and returns
	// the server's message with that ID.
	Exchange(ctx context.Context, server string, message []byte) ([]byte, error)
}

// Notifier is the supervisor's parent, which gets its state.
type Notifier interface {
	Ready()
	Status(text string)
	Alive()
	Stopping()
}
