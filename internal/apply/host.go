package apply

import (
	"context"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Host is the part of a machine that the engine uses: its files, its units and its kernel.
type Host interface {
	Files
	Units
	Kernel
	Components
}

// Components are the downloads that a machine needs because its image lacks them.
type Components interface {
	// Downloaded returns the origin of a component in its store. It returns nil if the component is missing or
	// incomplete.
	Downloaded(download *resource.Download) (*Origin, error)
	// Stores are all store directories of a component, from any origin and of any version.
	Stores(component string) ([]string, error)
	// Download brings a component to its store, and reports its progress now and then. It returns ErrNotProbed if the
	// host is not the machine itself and does not have the component. A *CheckError names the cause of a failure.
	Download(ctx context.Context, download *resource.Download, report func(how string)) (*Origin, error)
}

// Files is the machine's file tree. Paths are absolute and clean. No path may lead out of the tree through a symbolic
// link.
type Files interface {
	// Lock creates the lock file at path and holds the lock until the returned function is called. It waits while
	// another process holds it and ctx is not done.
	Lock(ctx context.Context, path string) (unlock func() error, err error)
	// Stat describes the entry at path, without following a last symbolic link.
	Stat(path string) (Entry, error)
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
	// ReadDir lists the names in a directory, sorted. If the directory is missing, the error is fs.ErrNotExist.
	ReadDir(path string) ([]string, error)
	// Writable returns an error if a directory is, or would be created, on a file system that is mounted read-only.
	Writable(dir string) error
	// Stage writes a file's content, mode and owner under a temporary name beside its path, and syncs it. It creates
	// missing parents. The path does not change until Commit.
	Stage(file *resource.File) error
	// StageAll is Stage for several files, in less time. The errors are in the files' order.
	StageAll(files []*resource.File) []error
	// StageCopy copies an existing file, under a temporary name beside the copy's path. That path does not change until
	// Commit.
	StageCopy(c *resource.Copy) error
	// SameFile reports whether two paths have the same file, or one has a copy of the other. It is false if one is
	// missing.
	SameFile(a, b string) (bool, error)
	// Commit renames a staged file or copy into place.
	Commit(path string) error
	// Unstage removes what was staged for path, if anything.
	Unstage(path string) error
	// MakeDirectory creates a directory, or corrects its mode and owner.
	MakeDirectory(dir *resource.Directory) error
	// MakeSymlink creates a symbolic link. It replaces an existing file or link atomically.
	MakeSymlink(link *resource.Symlink) error
	// Remove removes a file or link. A missing one is not an error.
	Remove(path string) error
	// RemoveDirectory removes an empty directory. If it is missing or not empty, that is not an error.
	RemoveDirectory(path string) error
	// Renamed records that an earlier process may have changed the name at path, for the next Sync.
	Renamed(path string)
	// Sync makes durable every name that was changed since the last call.
	Sync() error
	// SyncFileSystem makes durable all writes of all programs to the file system that holds path.
	SyncFileSystem(path string) error
}

// EntryKind is what is at a path.
type EntryKind string

// The kinds of entry.
const (
	Absent      EntryKind = ""
	RegularFile EntryKind = "file"
	Directory   EntryKind = "directory"
	Symlink     EntryKind = "symlink"
	Other       EntryKind = "other"
)

// Entry is what is at a path.
type Entry struct {
	Kind EntryKind
	Mode uint32 // permission bits
	UID  int
	GID  int
	Size int64
	// Target is a symbolic link's target.
	Target string
	// Owned is false if owners have no meaning on this host and must not be compared.
	Owned bool
}

// Units are the machine's systemd units.
type Units interface {
	// UnitState reports a unit's state; a unit that does not exist has ActiveState "inactive" and
	// LoadState "not-found".
	UnitState(ctx context.Context, unit string) (UnitState, error)
	// UnitEnabled reports whether a boot starts a unit through the unit's link (systemctl(1), is-enabled).
	UnitEnabled(ctx context.Context, unit string) (bool, error)
	// NeedReload reports whether systemd has in memory an earlier version of one of the units' files. systemd reads a
	// unit that it has not yet read when that starts. Reading all units again takes seconds on a small booting machine.
	NeedReload(ctx context.Context, units []string) (bool, error)
	// ReloadUnits makes systemd read its unit files again.
	ReloadUnits(ctx context.Context) error
	// StartUnit starts a unit and waits until its job is done.
	StartUnit(ctx context.Context, unit string) error
	// RestartUnit restarts a unit and waits until its job is done.
	RestartUnit(ctx context.Context, unit string) error
	// StopUnit stops a unit and waits until its job is done. If the unit does not run, that is not an error.
	StopUnit(ctx context.Context, unit string) error
	// ReloadUnit makes a running unit read its configuration again, and restarts a unit that cannot.
	ReloadUnit(ctx context.Context, unit string) error
	// MaskUnit and UnmaskUnit decide whether anything may start a unit; EnableUnit and DisableUnit decide whether a
	// boot does.
	MaskUnit(ctx context.Context, unit string) error
	UnmaskUnit(ctx context.Context, unit string) error
	EnableUnit(ctx context.Context, unit string) error
	DisableUnit(ctx context.Context, unit string) error
}

// UnitState is a unit's state, in systemd's words.
type UnitState struct {
	LoadState   string
	ActiveState string
	SubState    string
	// Result is why a failed unit failed: "exit-code", "timeout", ...
	Result string
	// Starting reports whether a program has requested the start and the unit is not active yet.
	Starting bool
}

// Kernel is the rest of the machine.
type Kernel interface {
	// Sysctl returns a kernel parameter, fields separated by single spaces. A parameter that the
	// kernel does not have is an error that is fs.ErrNotExist.
	Sysctl(key string) (string, error)
	// SetSysctl sets a kernel parameter.
	SetSysctl(key, value string) error
	// Attribute returns a setting of sysfs; of several options, the chosen one. If the kernel does not have it, the
	// error is fs.ErrNotExist.
	Attribute(path string) (string, error)
	// SetAttribute sets a setting of sysfs.
	SetAttribute(path, value string) error
	// Mounted reports whether a directory is mounted as the resource requires.
	Mounted(mount *resource.Mount) (bool, error)
	// Mount mounts it instead of what is mounted there. It creates missing directories.
	Mount(ctx context.Context, mount *resource.Mount) error
	// Unmount unmounts it, even if a program has it open.
	Unmount(ctx context.Context, mount *resource.Mount) error
	// Swapping reports whether a swap file is in use with its size; SwapFile reports whether it exists.
	Swapping(swap *resource.Swap) (bool, error)
	SwapFile(swap *resource.Swap) (bool, error)
	// MakeSwap creates a swap file and enables it; RemoveSwap removes it.
	MakeSwap(ctx context.Context, swap *resource.Swap) error
	RemoveSwap(ctx context.Context, swap *resource.Swap) error
	// HasImage reports whether the container runtime has an image.
	HasImage(ctx context.Context, image *resource.Image) (bool, error)
	// PullImage makes the container runtime pull an image. It returns ErrNotProbed if the host has no runtime. A
	// *CheckError names the cause of a failure.
	PullImage(ctx context.Context, image *resource.Image) error
	// ModuleLoaded reports whether a kernel module is loaded or built in.
	ModuleLoaded(module string) (bool, error)
	// LoadModule loads a kernel module.
	LoadModule(ctx context.Context, module string) error
	// IsDone reports whether a command's work is seen to be done.
	IsDone(ctx context.Context, command *resource.Command) bool
	// Run runs a command and returns the end of its output.
	Run(ctx context.Context, command *resource.Command) (output []byte, err error)
	// NodeName returns the default name of this machine's Node: the host's name, in lower case.
	NodeName() (string, error)
	// RequestCertificate requests the kubelet's certificate from an API server, as the resource specifies. Once ready
	// is closed, only this request delays the kubelet: it gives up when the kubelet's request would be faster. It
	// returns ErrNotProbed if the host is not the machine itself. A *CheckError names the cause of a failure.
	RequestCertificate(ctx context.Context, certificate *resource.Certificate, ready <-chan struct{}) (*Issued, error)
	// SelfSign makes the kubelet's serving certificate and its key, in PEM, as the resource specifies. It returns
	// ErrNotProbed if the host is not the machine itself.
	SelfSign(wanted *resource.ServingCertificate) (certificate, key []byte, err error)
	// Probe runs a check of the machine's surroundings. It returns ErrNotProbed if the host is not the machine itself.
	// A *CheckError names the cause of a failure.
	Probe(ctx context.Context, check *resource.Check) error
}
