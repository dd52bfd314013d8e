package doctor

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/host"
)

// Insides are the machine's units, container runtime, kernel and disks.
type Insides interface {
	Units
	Runtime
	Kernel
	// Digest is the SHA-256 digest of a regular file, in hexadecimal, also through links.
	Digest(path string, limit int64) (string, error)
}

// Units are systemd's units and their journals.
type Units interface {
	// Examine returns a unit's state with what shows why it is in it. A missing unit has LoadState "not-found".
	Examine(ctx context.Context, unit string) (*host.ExaminedUnit, error)
	// FailedUnits returns the names of all failed units, sorted.
	FailedUnits(ctx context.Context) ([]string, error)
	// Search returns the newest lines of this boot's journal by a unit, and by systemd about it, that have one of some
	// words; without words, the newest lines.
	Search(ctx context.Context, unit string, words ...string) ([]string, error)
	// SearchSince is Search for the lines from a time on. The zero time is the boot.
	SearchSince(ctx context.Context, since time.Time, unit string, words ...string) ([]string, error)
}

// Runtime is the container runtime at a socket.
type Runtime interface {
	RuntimeConditions(ctx context.Context, socket string) ([]cri.Condition, error)
	// CgroupDriver is empty if the runtime does not report it.
	CgroupDriver(ctx context.Context, socket string) (string, error)
	Sandboxes(ctx context.Context, socket string) ([]cri.Sandbox, error)
	// Containers returns the containers of a sandbox, also those that have ended.
	Containers(ctx context.Context, socket, sandbox string) ([]cri.Container, error)
	ContainerEnd(ctx context.Context, socket, container string) (cri.Ended, error)
}

// Kernel is the kernel with its file systems and sockets.
type Kernel interface {
	// Sysctl returns a kernel parameter. If the kernel does not have it, the error is fs.ErrNotExist.
	Sysctl(key string) (string, error)
	// ModuleLoaded reports whether a module is loaded or built in.
	ModuleLoaded(module string) (bool, error)
	// FileSystem describes the file system that has a path, or that would have it.
	FileSystem(path string) (host.FileSystem, error)
	// Listener returns the process that listens on a TCP port, or nil.
	Listener(ctx context.Context, port uint16) (*host.Process, error)
	// AskHealthz asks a health endpoint of this machine once, and reports whether it has answered.
	AskHealthz(ctx context.Context, url string) (answered bool, err error)
}
