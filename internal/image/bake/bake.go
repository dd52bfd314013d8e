// Package bake puts the locked components into the tree of a node image: each file of the lock at its path, with its mode and digest.
//
// It takes the files out of internal/image/cache. It compares first, so a tree that is right is not touched. It stages all files before
// the first one gets its name, and removes what an earlier lock brought and this one lacks. The tree keeps the lock and the component
// manifest. The package downloads nothing, and applies no contract: "slipway-node provision --root" does that. cmd/slipway's commands
// call it.
package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/archive"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// Result is what a baking has done.
type Result struct {
	// Written are the paths of files that are new or have changed, and Removed those of files that an earlier lock brought.
	Written []string `json:"written"`
	Removed []string `json:"removed"`
	// Kept are the paths of files that an earlier lock brought, and that have changed since: they stay.
	Kept []string `json:"kept,omitempty"`
	// Files is the number of all files, and Bytes their size.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Kubelets are those of the tree, by version.
	Kubelets []Kubelet `json:"kubelets,omitempty"`
	// Link is the path of the link to the only kubelet. It is empty if there are several, or if the lock has the kubelet there.
	Link string `json:"link,omitempty"`
	// Images are the references of the container images, which are in the tree as a layout of OCI.
	Images []string `json:"images,omitempty"`
}

// Kubelet is a kubelet of the tree.
type Kubelet struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
}

// Same reports whether the tree was right before.
func (r *Result) Same() bool { return len(r.Written)+len(r.Removed) == 0 }

// file is a file of the lock.
type file struct {
	lock.File
	component *lock.Component
	archive   string // the digest of the download that has it
	source    string // where the download is, at first
	mode      uint32
	// content is set if the file is in no archive, but made here.
	content []byte
}

// baking is one call of Tree.
type baking struct {
	*rootfs.Tree
	cache *cache.Cache
	// wanted are the files of the lock, and brought those of earlier locks, by their paths.
	wanted, brought map[string]file
	result          *Result
}

// Tree puts the components of a lock for an architecture into the tree below root. The cache has their files. The error is a
// *fault.Error if a component is its cause.
func Tree(ctx context.Context, root string, l *lock.Lock, architecture string, c *cache.Cache) (*Result, error) {
	return into(ctx, root, l, architecture, c, isImage)
}

// Overlay puts the components into a directory without a distribution, which is copied over the tree of an image later.
func Overlay(ctx context.Context, root string, l *lock.Lock, architecture string, c *cache.Cache) (*Result, error) {
	return into(ctx, root, l, architecture, c, func(*rootfs.Tree, string) error { return nil })
}

// isImage refuses trees that cannot be those of an image.
func isImage(tree *rootfs.Tree, root string) error {
	if !slices.ContainsFunc(systemd, tree.Exists) {
		return fmt.Errorf("%s has no systemd, so it is not the tree of a machine: install the distribution first", root)
	}
	for _, name := range profile.Names() {
		if at := profile.Named(name).Paths.Kubeconfig; tree.Exists(at) {
			return fmt.Errorf("%s is the tree of a node: it has %s; bake a new image, and replace the node", root, at)
		}
	}
	return nil
}

func into(ctx context.Context, root string, l *lock.Lock, architecture string, c *cache.Cache, check func(*rootfs.Tree, string) error) (result *Result, err error) {
	tree, err := rootfs.Open(root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	if err := check(tree, root); err != nil {
		return nil, err
	}
	unlock, err := tree.Lock(ctx, apply.LockPath)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b := &baking{Tree: tree, cache: c, wanted: filesOf(l, architecture), result: &Result{Written: []string{}, Removed: []string{}}}
	for _, component := range l.Components {
		if component.Image != nil {
			b.result.Images = append(b.result.Images, component.Image.References...)
		}
	}
	if err := addImages(b.wanted, l, architecture, func(digest string) ([]byte, error) { return c.Data(digest, maxManifest) }); err != nil {
		return nil, err
	}
	before, err := b.records(architecture)
	if err != nil {
		return nil, err
	}
	return b.result, b.run(l, architecture, before)
}

// systemd are the paths of systemd in a tree, with and without a merged /usr.
var systemd = []string{"/usr/lib/systemd/systemd", "/lib/systemd/systemd"}

// filesOf are the files of a lock for an architecture, but for those of container images.
func filesOf(l *lock.Lock, architecture string) map[string]file {
	all := make(map[string]file)
	for i := range l.Components {
		c := &l.Components[i]
		a := c.For(architecture)
		if a == nil {
			continue
		}
		for _, f := range a.Files {
			mode, _ := strconv.ParseUint(f.Mode, 8, 32) // the lock is valid
			all[f.Path] = file{File: f, component: c, archive: a.SHA256, source: a.Sources[0], mode: uint32(mode)}
		}
	}
	return all
}

// run compares, and changes what differs.
func (b *baking) run(l *lock.Lock, architecture string, before []byte) error {
	var missing, stale []string
	for _, path := range slices.Sorted(maps.Keys(b.wanted)) {
		f := b.wanted[path]
		b.result.Files++
		b.result.Bytes += f.Size
		same, err := b.has(f)
		if err != nil {
			return err
		}
		if !same {
			missing = append(missing, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b.brought)) {
		if _, stays := b.wanted[path]; stays || !b.Exists(path) {
			continue
		}
		if same, err := b.has(b.brought[path]); err != nil {
			return err
		} else if same {
			stale = append(stale, path)
		} else {
			b.result.Kept = append(b.result.Kept, path)
		}
	}
	link, err := b.kubelets()
	if err != nil {
		return err
	}
	record, err := b.newRecords(l, architecture)
	if err != nil {
		return err
	}
	if len(missing)+len(stale) == 0 && link == nil && record.equal(before) {
		return b.clean()
	}
	if err := b.begin(record); err != nil {
		return err
	}
	if err := b.change(missing, stale); err != nil {
		return err
	}
	b.result.Written, b.result.Removed = append(b.result.Written, missing...), append(b.result.Removed, stale...)
	if link != nil {
		if err := link(); err != nil {
			return err
		}
	}
	return b.finish(record)
}

// has reports whether the tree has a file, with its mode and digest.
func (b *baking) has(f file) (bool, error) {
	entry, err := b.Stat(f.Path)
	if err != nil {
		return false, err
	}
	if entry.Kind != apply.RegularFile || entry.Size != f.Size || entry.Mode != f.mode {
		return false, nil
	}
	digest, err := b.Digest(f.Path, lock.MaxSize)
	return digest == f.SHA256, err
}

// change stages the missing files, gives them their names, and removes stale ones.
func (b *baking) change(missing, stale []string) error {
	byArchive := make(map[string][]file)
	for _, path := range missing {
		f := b.wanted[path]
		byArchive[f.archive] = append(byArchive[f.archive], f)
	}
	err := b.made(byArchive[""])
	delete(byArchive, "")
	for _, digest := range slices.Sorted(maps.Keys(byArchive)) {
		if err == nil {
			err = b.unpack(digest, byArchive[digest])
		}
	}
	for _, path := range missing {
		if err == nil {
			err = b.Commit(path)
		}
		if err != nil {
			err = errors.Join(err, b.Unstage(path))
		}
	}
	for _, path := range stale {
		if err == nil {
			err = b.Remove(path)
		}
	}
	return err
}

// made stages files that are in no archive.
func (b *baking) made(files []file) error {
	for _, f := range files {
		if err := b.stage(f, bytes.NewReader(f.content)); err != nil {
			return err
		}
	}
	return nil
}

// unpack stages files of one download. A file of it can have several paths; each reading of the download stages one of them.
func (b *baking) unpack(digest string, files []file) error {
	for len(files) > 0 {
		rest, err := b.unpackOnce(digest, files)
		if err == nil && len(rest) == len(files) {
			err = fmt.Errorf("the download does not have %s", rest[0].Member)
		}
		if err != nil {
			return fault.Of(files[0].component.Name, "", err, "lock the component again with slipway image lock --update")
		}
		files = rest
	}
	return nil
}

// unpackOnce stages one path of each file, and returns what is left.
func (b *baking) unpackOnce(digest string, files []file) (rest []file, err error) {
	from, err := b.cache.Open(digest)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	rest = slices.Clone(files)
	take := func(member archive.File) error {
		i := slices.IndexFunc(rest, func(f file) bool { return f.Member == member.Name })
		if i < 0 {
			return nil
		}
		f := rest[i]
		rest = slices.Delete(rest, i, i+1)
		return b.stage(f, member)
	}
	if files[0].Member == "" && files[0].SHA256 == digest {
		return rest, take(archive.File{Reader: from})
	}
	return rest, archive.Files(from, take)
}

// stage stages one file, and checks its digest.
func (b *baking) stage(f file, content io.Reader) error {
	sum := sha256.New()
	if err := b.StageStream(f.Path, f.mode, io.TeeReader(content, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%s has SHA-256 %s, and the lock has %s", f.Path, got, f.SHA256)
	}
	return nil
}
