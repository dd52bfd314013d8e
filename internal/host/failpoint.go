//go:build failpoint

package host

import (
	"fmt"
	"os"
	"path"
	"sync/atomic"
)

// Mutation is one change of the host, as a failpoint sees it.
type Mutation struct {
	// Kind is "create", "write", "rename", ... or the name of a unit's or the kernel's action.
	Kind string
	// Path is what is changed, as the kernel knows it: absolute, below the root of the tree, and free of
	// symbolic links but for its last name. A file without a name yet has one that ends in " (deleted)".
	// Of an action it is the unit, parameter or module.
	Path string
	// Root is the tree's directory, of an action that is recorded in one.
	Root string
	// To is the new path of a rename or link, where a symbolic link leads, or a parameter's value.
	To string
	// Data is what is written.
	Data []byte
	// Size is how much room is allocated.
	Size int64
	// Mode, UID and GID are what is created or set with.
	Mode     uint32
	UID, GID int
}

func (m *Mutation) String() string { return m.Kind + " " + m.Path }

// Fate is what becomes of a mutation.
type Fate struct {
	// Err, if any, is returned in the mutation's place, which is not done.
	Err error
	// Short is how many bytes a write that fails writes all the same.
	Short int
}

// Failpoint is asked about every mutation. One that ends the process does not return.
type Failpoint interface {
	// Before decides what becomes of a mutation.
	Before(m *Mutation) Fate
	// After is told of one that was done, and how.
	After(m *Mutation, err error)
}

var failpoint atomic.Pointer[Failpoint]

// SetFailpoint makes f decide on every mutation of this process from now on; nil lets all pass.
func SetFailpoint(f Failpoint) {
	if f == nil {
		failpoint.Store(nil)
		return
	}
	failpoint.Store(&f)
}

// mutate does one change of the host by a system call, as the failpoint lets it, and again where a signal
// interrupted it, or the failpoint says so.
func mutate(m mutation, call func() error) error {
	return again(func() error { return pass(m, call) })
}

// pass does one change of the host, as the failpoint lets it.
func pass(m mutation, call func() error) error {
	installed := failpoint.Load()
	if installed == nil {
		return call()
	}
	seen := m.resolved()
	fate := (*installed).Before(&seen)
	if fate.Err == nil {
		err := call()
		(*installed).After(&seen, err)
		return err
	}
	switch {
	case m.kind == mutateClose:
		call() // close(2) closes whatever it returns
	case m.kind == mutateWrite && fate.Short > 0:
		m.file.Write(m.data[:min(fate.Short, len(m.data))])
	}
	return fate.Err
}

// resolved is a mutation with whole paths.
func (m *mutation) resolved() Mutation {
	seen := Mutation{Kind: string(m.kind), Path: m.name, Root: m.root, To: m.to, Data: m.data, Size: m.size, Mode: m.mode, UID: m.uid, GID: m.gid}
	if m.file == nil {
		if path.IsAbs(m.name) {
			seen.Path = path.Join(m.root, m.name)
		}
		return seen
	}
	// The kernel knows where a directory is, whatever links led there.
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", m.file.Fd()))
	if err != nil {
		at = m.file.Name()
	}
	seen.Path = path.Join(at, m.name)
	if m.kind == mutateLink {
		seen.Path, _ = os.Readlink(m.name)
	}
	if m.to != "" && m.kind != mutateSymlink {
		seen.To = path.Join(at, m.to)
	}
	return seen
}
