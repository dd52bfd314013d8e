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
	// Kind is "create", "write", "rename", ... or the name of an action on a unit or the kernel.
	Kind string
	// Path is the kernel's path of the changed file: absolute, below the root of the tree, and free of symbolic links
	// except its last name. A file without a name yet has a path that ends in " (deleted)". For an action it is the
	// unit, parameter or module.
	Path string
	// Root is the tree's directory, for an action that is recorded in one.
	Root string
	// To is the new path of a rename or link, a symbolic link's target, or a parameter's value.
	To string
	// Data is the written data.
	Data []byte
	// Size is the allocated space.
	Size int64
	// Mode, UID and GID are the values of a creation or change.
	Mode     uint32
	UID, GID int
}

func (m *Mutation) String() string { return m.Kind + " " + m.Path }

// Fate is the decision about a mutation.
type Fate struct {
	// Err, if any, is returned instead of making the mutation.
	Err error
	// Short is how many bytes a failing write still writes.
	Short int
}

// Point decides about every mutation. If it ends the process, it does not return.
type Point interface {
	// Before decides about a mutation.
	Before(m *Mutation) Fate
	// After is called with each mutation that was made, and its error.
	After(m *Mutation, err error)
}

var point atomic.Pointer[Point]

// InOrder reports that changes which could be parallel are made one after the other, so that each run has the same
// points in the same order.
const InOrder = true

// Set makes p decide about every mutation of this process from now on. If p is nil, all pass.
func Set(p Point) {
	if p == nil {
		point.Store(nil)
		return
	}
	point.Store(&p)
}

// Around returns a function that makes one change of the host, if the failpoint allows it. The function may be called
// more than once; the failpoint decides each time.
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
		call() // close(2) closes the file whatever it returns
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
	// The kernel knows a directory's path, through any links.
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
