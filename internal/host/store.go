package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/archive"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

const (
	maxOrigin = 64 << 10
	// partFile is the downloaded part of a component.
	partFile = "part"
	// programMode is the mode of what is unpacked.
	programMode = 0o755
	// keptStores is how many stores of a component are kept beside the one in progress: the last complete one, for a
	// rollback.
	keptStores = 1
)

// downloaded reads a component's origin. It returns nil if its store is incomplete or damaged.
func downloaded(t *rootfs.Tree, d *resource.Download) (*apply.Origin, error) {
	data, err := t.ReadFile(d.Path(resource.OriginFile), maxOrigin)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s apply.Stored
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

// fill unpacks a download into a component's store and records its origin there. The files appear under their names
// only when all of them are complete.
func fill(t *rootfs.Tree, d *resource.Download, packed io.ReadSeeker, origin *apply.Origin) error {
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := apply.Stored{Origin: *origin, Sizes: make(map[string]int64), Digests: make(map[string]string)}
	err := unpack(t, d, packed, &s)
	for _, file := range d.Files { // always in the same order
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
	// The partial file is removed before the store counts as complete: a complete store is not searched for one.
	if err := errors.Join(t.Remove(d.Path(partFile)), t.Sync()); err != nil {
		return err
	}
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.WriteFileAtomic(&resource.File{Path: d.Path(resource.OriginFile), Mode: 0o644, Content: append(document, '\n')})
}

// errWritten is a failure to write a file, not a failure of the archive.
type errWritten struct{ error }

func (e errWritten) Unwrap() error { return e.error }

// unpack stages the wanted files of an archive.
func unpack(t *rootfs.Tree, d *resource.Download, packed io.Reader, s *apply.Stored) error {
	links := make(map[string]string)
	err := archive.Files(packed, func(f archive.File) error {
		for _, wanted := range d.Files {
			if _, twice := s.Sizes[wanted.Name]; twice || !matches(wanted.Members, f.Name) {
				continue
			}
			if f.Link {
				links[wanted.Name] = f.Name
				continue
			}
			content := &counting{r: f, sum: sha256.New()}
			if err := t.StageStream(d.Path(wanted.Name), programMode, content); err != nil {
				if content.err != nil {
					return fmt.Errorf("%s: %w", f.Name, content.err)
				}
				return errWritten{err}
			}
			if s.Sizes[wanted.Name] = content.n; content.n == 0 {
				return fmt.Errorf("%s is empty", f.Name)
			}
			s.Digests[wanted.Name] = hex.EncodeToString(content.sum.Sum(nil))
			break
		}
		if s.Checked && len(s.Sizes) == len(d.Files) {
			return archive.ErrStop // the unread rest was checked, too
		}
		return nil
	})
	if own, ok := errors.AsType[errWritten](err); ok {
		return own.error
	}
	for _, wanted := range d.Files {
		if _, found := s.Sizes[wanted.Name]; err == nil && !found && !wanted.Optional {
			err = archive.Missing(wanted.Members, links[wanted.Name])
		}
	}
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseUnpack, Endpoint: s.From, Err: err}
	}
	return nil
}

// matches reports whether a file of an archive is a wanted one. A download that is not an archive is a single file
// without a name.
func matches(patterns []string, name string) bool {
	return name == "" || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // invalid patterns were refused before
		return ok
	})
}

// counting counts and digests the bytes that are read, and keeps the read error.
type counting struct {
	r   io.Reader
	n   int64
	sum hash.Hash
	err error
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if c.n += int64(n); err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// tidy removes a component's other stores, except the last complete one.
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
		file, err := t.OpenKind(store+"/"+resource.OriginFile, unix.S_IFREG)
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
	sort.SliceStable(whole, func(i, j int) bool { return whole[i].since.Before(whole[j].since) })
	for _, old := range whole[:max(0, len(whole)-keptStores)] {
		if err := removeStore(t, old.store); err != nil {
			return err
		}
	}
	return t.Sync()
}

// removeStore removes a store. The store is incomplete from the first step on.
func removeStore(t *rootfs.Tree, store string) error {
	names, err := t.ReadDir(store)
	if err != nil {
		return err
	}
	if err := t.Remove(store + "/" + resource.OriginFile); err != nil {
		return err
	}
	for _, name := range names {
		if err := t.Remove(store + "/" + name); err != nil {
			return err
		}
	}
	return t.RemoveDirectory(store)
}

// stores are a component's stores, complete or not.
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
