package agent

import (
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// room is the machine of a run that has a reserve of disk space. If a write fails because the disk is full, room gives
// up the reserve, once, and tries the write again.
//
// A run that goes forward does not use the reserve. Otherwise a change could just fit, and leave a node that cannot
// roll back and whose kubelet and containers have no space either, without any error. So the change fails if the disk
// is full, and the reserve serves what follows: restore the earlier state, record it and publish it.
type room struct {
	Host
	warn func(msg string, args ...any)

	mu sync.Mutex
	// held reports whether the run goes forward, so that the reserve stays.
	held bool
	// given reports whether the reserve has been given up.
	given bool
}

// hold sets whether the run goes forward from now on.
func (r *room) hold(forward bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = forward
}

// refill creates the reserve, or creates it again, at the end of a successful run.
func (r *room) refill() {
	if err := r.Host.Reserve(state.Reserve.Path, state.Reserve.Limit); err != nil {
		r.warn("there is no room for a reserve; a change that meets a full disk may not be rolled back", "path", state.Reserve.Path, "error", err)
	}
}

// try calls write, and calls it again if it failed for lack of space and room gave up the reserve.
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
		err = r.Host.Sync() // ext4 does not free the blocks before
	}
	if err != nil {
		r.warn("the reserve cannot be given up", "path", state.Reserve.Path, "error", err)
	}
	return true
}

func (r *room) Stage(file *resource.File) error {
	return r.try(func() error { return r.Host.Stage(file) })
}

func (r *room) StageAll(files []*resource.File) []error {
	errs := r.Host.StageAll(files)
	if slices.ContainsFunc(errs, host.NoRoom) && r.give() {
		return r.Host.StageAll(files)
	}
	return errs
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
