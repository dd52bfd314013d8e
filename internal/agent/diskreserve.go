package agent

import (
	"sync"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// room is the machine as a run changes it that has a reserve of room on the disk. When something cannot be written
// because the disk is full, the reserve is given up, once, and what failed is tried again.
//
// A run that goes forward does not touch it: a change that just fits leaves a node that cannot go back, whose kubelet
// and containers have no room either, and nobody would know. So the change fails where the disk is full, and the reserve
// is there for all that follows: what it was is restored, recorded and published.
type room struct {
	Host
	warn func(msg string, args ...any)

	mu sync.Mutex
	// held says that the run goes forward.
	held bool
	// given says that the reserve has been given up.
	given bool
}

// hold says whether the run goes forward from now on.
func (r *room) hold(forward bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = forward
}

// refill makes the reserve, or makes it again, at the end of a run that went well.
func (r *room) refill() {
	if err := r.Host.Reserve(state.Reserve.Path, state.Reserve.Limit); err != nil {
		r.warn("there is no room for a reserve; a change that meets a full disk may not be rolled back", "path", state.Reserve.Path, "error", err)
	}
}

// try writes, and once more where that failed for want of room and the reserve is given up for it.
func (r *room) try(write func() error) error {
	err := write()
	if !host.NoRoom(err) || !r.give() {
		return err
	}
	return write()
}

// give gives up the reserve, and reports whether this run has done so.
func (r *room) give() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held || r.given {
		return !r.held
	}
	r.given = true
	r.warn("the disk is full; using the room that was reserved for this", "path", state.Reserve.Path)
	err := r.Host.Remove(state.Reserve.Path)
	if err == nil {
		err = r.Host.Sync() // ext4 gives the blocks to nobody before
	}
	if err != nil {
		r.warn("the reserve cannot be given up", "path", state.Reserve.Path, "error", err)
	}
	return true
}

func (r *room) Stage(file *resource.File) error {
	return r.try(func() error { return r.Host.Stage(file) })
}

func (r *room) StageCopy(c *resource.Copy) error {
	return r.try(func() error { return r.Host.StageCopy(c) })
}

func (r *room) Commit(path string) error {
	return r.try(func() error { return r.Host.Commit(path) })
}

func (r *room) MakeDirectory(dir *resource.Directory) error {
	return r.try(func() error { return r.Host.MakeDirectory(dir) })
}

func (r *room) MakeSymlink(link *resource.Symlink) error {
	return r.try(func() error { return r.Host.MakeSymlink(link) })
}

func (r *room) WriteFileAtomic(file *resource.File) error {
	return r.try(func() error { return r.Host.WriteFileAtomic(file) })
}

func (r *room) SetAside(path string) (aside string, err error) {
	err = r.try(func() (err error) { aside, err = r.Host.SetAside(path); return err })
	return aside, err
}

var _ apply.Host = (*room)(nil)
