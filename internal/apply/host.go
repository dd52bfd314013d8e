package apply

import (
	"context"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Host is what the engine needs of a machine: its files, its units and its kernel.
type Host interface {
	Files
	Units
	Kernel
	Components
}

// Components are what a machine is brought of what its image lacks.
type Components interface {
	// Downloaded reports where a component that is in its store has come from; nil where it is not there, or not whole.
	Downloaded(download *resource.Download) (*Origin, error)
	// Stores are the directories of a component that was brought, also from elsewhere or in another version.
	Stores(component string) ([]string, error)
	// Download brings a component to its store, and reports now and then how far it is. It returns ErrNotProbed where the host is
	// not the machine itself and does not have it; a *CheckError names the cause of a failure.
	Download(ctx context.Context, download *resource.Download, report func(how string)) (*Origin, error)
}

// Files is the machine's tree of files. Paths are absolute and clean; none may lead out of the
// tree through a symbolic link.
type Files interface {
	// Lock takes the lock file at path, which is created, until the returned function is called.
	// It waits while another process holds it and ctx is not done.
	Lock(ctx context.Context, path string) (unlock func() error, err error)
	// Stat reports what is at path, without following a last symbolic link.
	Stat(path string) (Entry, error)
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
	// ReadDir lists the names in a directory, sorted. If the directory is missing, the error is fs.ErrNotExist.
	ReadDir(path string) ([]string, error)
	// Writable is an error where a directory is, or would be made, on a file system that is mounted read-only.
	Writable(dir string) error
	// Stage writes a file's content, mode and owner under a temporary name beside its path, and
	// syncs it. Missing parents are made. Nothing is visible at the path until Commit.
	Stage(file *resource.File) error
	// StageCopy makes a file that is there the one of another path, too, under a temporary name beside that. Nothing is
	// visible at the path until Commit.
	StageCopy(c *resource.Copy) error
	// SameFile reports whether what is at two paths is the same file, or a copy of it. It is not where there is none.
	SameFile(a, b string) (bool, error)
	// Commit renames a staged file or copy into place.
	Commit(path string) error
	// Unstage removes what was staged for path, if anything.
	Unstage(path string) error
	// MakeDirectory makes a directory, or corrects its mode and owner.
	MakeDirectory(dir *resource.Directory) error
	// MakeSymlink makes a symbolic link, atomically in place of a file or link that is there.
	MakeSymlink(link *resource.Symlink) error
	// Remove removes a file or link. A missing one is not an error.
	Remove(path string) error
	// RemoveDirectory removes a directory that is empty; it is no error that there is none, or that it is
	// not empty.
	RemoveDirectory(path string) error
	// Renamed notes that an earlier process may have changed the name at path, for the next Sync.
	Renamed(path string)
	// Sync makes durable every name that was changed since the last call.
	Sync() error
	// SyncFileSystem makes durable all that anybody has written to the file system that holds path.
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
	// Target is where a symbolic link leads.
	Target string
	// Owned is false where owners mean nothing on this host and must not be compared.
	Owned bool
}

// Units are the machine's systemd units.
type Units interface {
	// UnitState reports a unit's state; a unit that does not exist has ActiveState "inactive" and
	// LoadState "not-found".
	UnitState(ctx context.Context, unit string) (UnitState, error)
	// UnitEnabled reports whether a boot starts a unit by a link of its own (systemctl(1), is-enabled).
	UnitEnabled(ctx context.Context, unit string) (bool, error)
	// NeedReload reports whether systemd has read one of the units' files and has it in memory as it was
	// before. A unit that it has not read yet is read when it is started, as it is then; reading all
	// units again takes seconds on a small machine that boots.
	NeedReload(ctx context.Context, units []string) (bool, error)
	// ReloadUnits makes systemd read its unit files again.
	ReloadUnits(ctx context.Context) error
	// StartUnit starts a unit and waits until its job is done.
	StartUnit(ctx context.Context, unit string) error
	// RestartUnit restarts a unit and waits until its job is done.
	RestartUnit(ctx context.Context, unit string) error
	// StopUnit stops a unit and waits until its job is done; it is no error that it does not run.
	StopUnit(ctx context.Context, unit string) error
	// ReloadUnit has a unit that runs read its configuration again, and restarts one that cannot.
	ReloadUnit(ctx context.Context, unit string) error
	// MaskUnit and UnmaskUnit decide whether anything may start a unit, EnableUnit and DisableUnit whether a boot does.
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
	// Starting says that somebody has asked for it to be started, and it is not active yet.
	Starting bool
}

// Kernel is the rest of the machine.
type Kernel interface {
	// Sysctl returns a kernel parameter, fields separated by single spaces. A parameter that the
	// kernel does not have is an error that is fs.ErrNotExist.
	Sysctl(key string) (string, error)
	// SetSysctl sets a kernel parameter.
	SetSysctl(key, value string) error
	// Attribute returns a setting of sysfs, the chosen one of several; one that the kernel does not have is an error that
	// is fs.ErrNotExist.
	Attribute(path string) (string, error)
	// SetAttribute sets it.
	SetAttribute(path, value string) error
	// Mounted reports whether a directory is mounted where the resource wants it.
	Mounted(mount *resource.Mount) (bool, error)
	// Mount mounts it, in the place of what is mounted there. Both directories are made where they are missing.
	Mount(ctx context.Context, mount *resource.Mount) error
	// Unmount takes it away, also from under who has it open.
	Unmount(ctx context.Context, mount *resource.Mount) error
	// Swapping reports whether a swap file is in use and has its size; SwapFile, whether it is there.
	Swapping(swap *resource.Swap) (bool, error)
	SwapFile(swap *resource.Swap) (bool, error)
	// MakeSwap makes a swap file and takes it into use, RemoveSwap removes it.
	MakeSwap(ctx context.Context, swap *resource.Swap) error
	RemoveSwap(ctx context.Context, swap *resource.Swap) error
	// HasImage reports whether the container runtime has an image.
	HasImage(ctx context.Context, image *resource.Image) (bool, error)
	// PullImage has the container runtime pull it. It returns ErrNotProbed where the host has no runtime; a *CheckError names the
	// cause of a failure.
	PullImage(ctx context.Context, image *resource.Image) error
	// ModuleLoaded reports whether a kernel module is loaded or built in.
	ModuleLoaded(module string) (bool, error)
	// LoadModule loads a kernel module.
	LoadModule(ctx context.Context, module string) error
	// IsDone reports whether it is seen that what a command does is done.
	IsDone(ctx context.Context, command *resource.Command) bool
	// Run runs a command and returns the end of what it printed.
	Run(ctx context.Context, command *resource.Command) (output []byte, err error)
	// NodeName is the name of this machine's Node, where nobody says another: the host's, in lower case.
	NodeName() (string, error)
	// RequestCertificate asks an API server for the kubelet's certificate, as the resource says. Once ready is closed, only
	// that keeps the kubelet from starting: it is given up where the kubelet would not have to wait as long for one of its own. It
	// returns ErrNotProbed where the host is not the machine itself; a *CheckError names the cause of a failure.
	RequestCertificate(ctx context.Context, certificate *resource.Certificate, ready <-chan struct{}) (*Issued, error)
	// SelfSign makes the kubelet's serving certificate and its key, in PEM, as the resource says. It returns ErrNotProbed
	// where the host is not the machine itself.
	SelfSign(wanted *resource.ServingCertificate) (certificate, key []byte, err error)
	// Probe performs a check that is about the machine's surroundings. It returns ErrNotProbed
	// where the host is not the machine itself; a *CheckError names the cause of a failure.
	Probe(ctx context.Context, check *resource.Check) error
}
