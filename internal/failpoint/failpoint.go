//go:build failpoint

package failpoint

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

// Point is asked about every mutation. One that ends the process does not return.
type Point interface {
	// Before decides what becomes of a mutation.
	Before(m *Mutation) Fate
	// After is told of one that was done, and how.
	After(m *Mutation, err error)
}

var point atomic.Pointer[Point]

// InOrder says that changes which may be made at the same time are made one after the other, so that each run has the same
// points in the same order.
const InOrder = true

// Set makes p decide on every mutation of this process from now on; nil lets all pass.
func Set(p Point) {
	if p == nil {
		point.Store(nil)
		return
	}
	point.Store(&p)
}

// Around returns what does one change of the host, as the failpoint lets it. It may be called more than once, and is
// asked about each time.
func Around(c Change, call func() error) func() error {
	return func() error { return pass(c, call) }
}

func pass(c Change, call func() error) error {
	installed := point.Load()
	if installed == nil {
		return call()
	}
	seen := c.resolved()
	fate := (*installed).Before(&seen)
	if fate.Err == nil {
		err := call()
		(*installed).After(&seen, err)
		return err
	}
	switch {
	case c.Kind == Close:
		call() // close(2) closes whatever it returns
	case c.Kind == Write && fate.Short > 0:
		c.File.Write(c.Data[:min(fate.Short, len(c.Data))])
	}
	return fate.Err
}

// resolved is the change with whole paths.
func (c *Change) resolved() Mutation {
	seen := Mutation{Kind: string(c.Kind), Path: c.Name, Root: c.Root, To: c.To, Data: c.Data, Size: c.Size, Mode: c.Mode, UID: c.UID, GID: c.GID}
	if c.File == nil {
		if path.IsAbs(c.Name) {
			seen.Path = path.Join(c.Root, c.Name)
		}
		return seen
	}
	// The kernel knows where a directory is, whatever links led there.
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.File.Fd()))
	if err != nil {
		at = c.File.Name()
	}
	seen.Path = path.Join(at, c.Name)
	if c.Kind == Link {
		seen.Path, _ = os.Readlink(c.Name)
	}
	if c.To != "" && c.Kind != Symlink {
		seen.To = path.Join(at, c.To)
	}
	return seen
}
