package bake

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The lock in an image, and the lock that is being put into it. If a run dies, the next one knows the files of both.
const (
	recordPath = "/opt/slipway/components.lock"
	nextPath   = "/opt/slipway/components.lock.next"
)

// record is what a tree keeps of a baking.
type record struct {
	lock, manifest []byte
	// manifestBefore is the tree's manifest before.
	manifestBefore []byte
}

// equal reports whether the tree already has the record.
func (r *record) equal(lockBefore []byte) bool {
	return bytes.Equal(r.lock, lockBefore) && bytes.Equal(r.manifest, r.manifestBefore)
}

// records reads the files that earlier locks have brought, and returns the tree's lock. A damaged record is an error: without it,
// files of the earlier lock would stay for good.
func (b *baking) records(architecture string) (before []byte, err error) {
	b.brought = make(map[string]file)
	for _, name := range []string{nextPath, recordPath} {
		data, err := b.read(name, document.MaxBytes)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		l, problems := lock.Parse(data)
		if len(problems) > 0 {
			return nil, errors.New(name + " in the tree: " + problems[0].String() + "; remove it, and the files that it names")
		}
		files := filesOf(l, architecture)
		// What a layout that is not complete does not name stays in the tree.
		if err := addImages(files, l, architecture, func(digest string) ([]byte, error) { return b.read(blobPath(digest), maxManifest) }); err != nil {
			return nil, err
		}
		maps.Copy(b.brought, files)
		before = data
		if name == nextPath {
			before = nil // the run that wrote it did not end
		}
	}
	return before, nil
}

// read reads a file of the tree. It returns nil if the file does not exist.
func (b *baking) read(name string, limit int64) ([]byte, error) {
	data, err := b.ReadFile(name, limit)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return data, err
}

// newRecords makes the records of a lock.
func (b *baking) newRecords(l *lock.Lock, architecture string) (*record, error) {
	r := &record{lock: l.Encode()}
	var err error
	if r.manifestBefore, err = b.read(components.Path, components.MaxBytes); err != nil {
		return nil, err
	}
	m := components.Manifest{APIVersion: components.APIVersion, Kind: components.Kind}
	if r.manifestBefore != nil {
		if m, err = components.Parse(r.manifestBefore); err != nil {
			return nil, err
		}
	}
	// What other programs have put into the image stays in the manifest. The list is there if it is empty, too, as the schema wants it.
	before := m.Components
	m.Components = []components.Component{}
	for _, c := range before {
		_, wanted := b.wanted[c.Path]
		_, brought := b.brought[c.Path]
		if !wanted && !brought {
			m.Components = append(m.Components, c)
		}
	}
	for at, f := range b.wanted {
		if name := programOf(f); name != "" {
			m.Components = append(m.Components, components.Component{
				Name: name, Version: f.component.Version, Path: at, SHA256: f.SHA256, License: f.component.License, Source: f.source})
		}
	}
	sum := sha256.Sum256(r.lock)
	m.Made = &components.Made{Builder: "slipway " + cli.Version, Architecture: architecture, Lock: hex.EncodeToString(sum[:])}
	if l.Base != nil {
		m.Made.Suite, m.Made.Snapshot = l.Base.Suite, l.Base.Snapshot
	}
	slices.SortFunc(m.Components, func(a, b components.Component) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path))
	})
	var out bytes.Buffer
	err = cli.WriteJSON(&out, m)
	r.manifest = out.Bytes()
	return r, err
}

// programs are the kinds whose component has one program that the node asks for by the kind's name.
var programs = []string{"kubelet", "containerd", "runc"}

// programOf is the name of a program in the manifest, or "" if the manifest does not have it.
func programOf(f file) string {
	switch kind := f.component.Kind; {
	case slices.Contains(programs, kind) && strings.HasPrefix(path.Base(f.Path), kind) && !strings.HasPrefix(path.Base(f.Path), kind+"-shim"):
		return kind
	case kind == "credential-provider":
		return f.component.Name
	}
	return ""
}

// begin records the lock before anything changes.
func (b *baking) begin(r *record) error { return b.write(nextPath, r.lock) }

// finish records what the tree has now.
func (b *baking) finish(r *record) error {
	if err := b.Sync(); err != nil {
		return err
	}
	if !bytes.Equal(r.manifest, r.manifestBefore) {
		if err := b.write(components.Path, r.manifest); err != nil {
			return err
		}
	}
	if err := b.write(recordPath, r.lock); err != nil {
		return err
	}
	return b.clean()
}

// clean removes the record of a lock that is being put into the tree.
func (b *baking) clean() error {
	if !b.Exists(nextPath) {
		return nil
	}
	return errors.Join(b.Remove(nextPath), b.Sync())
}

func (b *baking) write(name string, data []byte) error {
	return b.WriteFileAtomic(&resource.File{Path: name, Mode: 0o644, Content: data})
}
