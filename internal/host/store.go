package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/archive"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	// originFile is the last that is written to a store: where it is, the store is whole.
	originFile = "origin.json"
	maxOrigin  = 64 << 10
	// partFile is what has come so far of a component.
	partFile = "part"
	// keptStores is how many are kept of a component beside the one that is being filled: the last whole one, for the way back.
	keptStores = 1
)

// stored is what a store says of itself.
type stored struct {
	apply.Origin
	// Sizes are those of its files.
	Sizes map[string]int64 `json:"sizes"`
}

// downloaded reads where a component has come from; nil where its store is not whole. One that is damaged is not.
func downloaded(t *rootfs.Tree, d *resource.Download) (*apply.Origin, error) {
	data, err := t.ReadFile(d.Path(originFile), maxOrigin)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s stored
	if json.Unmarshal(data, &s) != nil || len(s.Sizes) == 0 {
		return nil, nil
	}
	for _, file := range d.Files {
		size, wanted := s.Sizes[file.Name]
		entry, err := t.Stat(d.Path(file.Name))
		if err != nil {
			return nil, err
		}
		if wanted && (entry.Kind != apply.RegularFile || entry.Size != size) || !wanted && !file.Optional {
			return nil, nil
		}
	}
	return &s.Origin, nil
}

// fill unpacks what has come into a component's store, and says there where it is from. Its files are visible under their names
// only when all of them are whole.
func fill(t *rootfs.Tree, d *resource.Download, packed io.ReadSeeker, origin *apply.Origin) error {
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := stored{*origin, make(map[string]int64)}
	err := unpack(t, d, packed, &s)
	for _, file := range d.Files { // in an order that is always the same
		if _, staged := s.Sizes[file.Name]; !staged {
			continue
		}
		if err == nil {
			err = t.Commit(d.Path(file.Name))
		}
		if err != nil {
			err = errors.Join(err, t.Unstage(d.Path(file.Name)))
		}
	}
	if err != nil {
		return err
	}
	// Before the store is whole: nobody looks for a part in one that is.
	if err := errors.Join(t.Remove(d.Path(partFile)), t.Sync()); err != nil {
		return err
	}
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.WriteFileAtomic(&resource.File{Path: d.Path(originFile), Mode: 0o644, Content: append(document, '\n')})
}

// errWritten is a failure to write a file, and none of the archive.
type errWritten struct{ error }

func (e errWritten) Unwrap() error { return e.error }

// unpack stages the wanted files of an archive.
func unpack(t *rootfs.Tree, d *resource.Download, packed io.Reader, s *stored) error {
	err := archive.Files(packed, func(f archive.File) error {
		for _, wanted := range d.Files {
			if _, twice := s.Sizes[wanted.Name]; twice || !matches(wanted.Members, f.Name) {
				continue
			}
			content := &counting{r: f}
			if err := t.StageStream(d.Path(wanted.Name), content); err != nil {
				if content.err != nil {
					return fmt.Errorf("%s: %w", f.Name, content.err)
				}
				return errWritten{err}
			}
			if s.Sizes[wanted.Name] = content.n; content.n == 0 {
				return fmt.Errorf("%s is empty", f.Name)
			}
			break
		}
		if s.Checked && len(s.Sizes) == len(d.Files) {
			return archive.ErrStop // what is not read was checked, too
		}
		return nil
	})
	if own, ok := errors.AsType[errWritten](err); ok {
		return own.error
	}
	for _, wanted := range d.Files {
		if _, found := s.Sizes[wanted.Name]; err == nil && !found && !wanted.Optional {
			err = fmt.Errorf("has no file %s", strings.Join(wanted.Members, " or "))
		}
	}
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseUnpack, Endpoint: s.From, Err: err}
	}
	return nil
}

// matches reports whether a file of an archive is one that is wanted. What is no archive is the only file there is.
func matches(patterns []string, name string) bool {
	return name == "" || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // a pattern that is none was refused
		return ok
	})
}

// counting counts what is read, and keeps why it cannot be.
type counting struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// tidy removes a component's other stores, but for the last whole one.
func tidy(t *rootfs.Tree, d *resource.Download) error {
	all, err := stores(t, d.Component)
	if err != nil {
		return err
	}
	type aged struct {
		store string
		since time.Time
	}
	var whole []aged
	for _, store := range all {
		if store == d.Store() {
			continue
		}
		file, err := t.OpenKind(store+"/"+originFile, unix.S_IFREG)
		if err == nil {
			info, errStat := file.Stat()
			if err = errors.Join(errStat, file.Close()); err == nil {
				whole = append(whole, aged{store, info.ModTime()})
				continue
			}
		}
		if err := removeStore(t, store); err != nil {
			return err
		}
	}
	slices.SortStableFunc(whole, func(a, b aged) int { return a.since.Compare(b.since) })
	for _, old := range whole[:max(0, len(whole)-keptStores)] {
		if err := removeStore(t, old.store); err != nil {
			return err
		}
	}
	return t.Sync()
}

// removeStore removes a store, which is not whole from the first moment on.
func removeStore(t *rootfs.Tree, store string) error {
	names, err := t.ReadDir(store)
	if err != nil {
		return err
	}
	if err := t.Remove(store + "/" + originFile); err != nil {
		return err
	}
	for _, name := range names {
		if err := t.Remove(store + "/" + name); err != nil {
			return err
		}
	}
	return t.RemoveDirectory(store)
}

// stores are a component's, whole or not.
func stores(t *rootfs.Tree, component string) ([]string, error) {
	names, err := t.ReadDir(resource.Downloads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, name := range names {
		if key, ok := strings.CutPrefix(name, component+"-"); ok && resource.IsStoreKey(key) {
			all = append(all, resource.Downloads+"/"+name)
		}
	}
	return all, err
}
