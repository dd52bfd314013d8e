package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Difference is what one file of an image is, and should not be.
type Difference struct {
	Path string `json:"path"`
	// Component is the name of the component that the file belongs to. It is empty for the records of the image.
	Component string `json:"component,omitempty"`
	Reason    string `json:"reason"`
}

// Verification is the result of Verify.
type Verification struct {
	// Lock is the SHA-256 digest of the image's lock, in hexadecimal.
	Lock string `json:"lock"`
	// Base is the distribution that the lock names. It is nil if it names none.
	Base *spec.Base `json:"-"`
	// Architecture is the image's.
	Architecture string `json:"architecture"`
	// Differences are sorted by path.
	Differences []Difference `json:"differences"`
	// Files is the number of the lock's files, and Bytes their size.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// verification is one call of Verify.
type verification struct {
	ctx    context.Context
	tree   fs.FS
	result *Verification
}

// Verify compares the tree of an image with the lock and the manifest in it: each file's kind, mode and digest. If expected is not nil, each
// component of the image must also be as this lock has it.
//
// It fails if the image has no lock or no manifest, or if they cannot be read.
func Verify(ctx context.Context, tree fs.FS, expected *lock.Lock) (*Verification, error) {
	v := &verification{ctx, tree, &Verification{Differences: []Difference{}}}
	l, sum, err := v.lock()
	if err != nil {
		return nil, err
	}
	m, err := v.manifest()
	if err != nil {
		return nil, err
	}
	v.result.Lock, v.result.Base, v.result.Architecture = sum, l.Base, m.Made.Architecture
	if m.Made.Lock != sum {
		v.differs(components.Path, "", "it is of the lock %s, and the image has the lock %s", m.Made.Lock, sum)
	}
	wanted := filesOf(l, m.Made.Architecture)
	if err := addImages(wanted, l, m.Made.Architecture, v.blob); err != nil {
		return nil, err
	}
	for _, at := range slices.Sorted(maps.Keys(wanted)) {
		if err := v.file(wanted[at]); err != nil {
			return nil, err
		}
	}
	for _, c := range m.Components {
		if f, is := wanted[c.Path]; is && c.SHA256 != f.SHA256 {
			v.differs(components.Path, c.Name, "it has SHA-256 %s for %s, and the lock has %s", c.SHA256, c.Path, f.SHA256)
		}
	}
	if expected != nil {
		v.compare(l, expected)
	}
	slices.SortStableFunc(v.result.Differences, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return v.result, nil
}

func (v *verification) differs(at, component, format string, args ...any) {
	v.result.Differences = append(v.result.Differences, Difference{at, component, fmt.Sprintf(format, args...)})
}

// read reads a record of the image.
func (v *verification) read(name string, limit int64) ([]byte, error) {
	file, err := v.tree.Open(inTree(name))
	if err != nil {
		return nil, fmt.Errorf("the image has no %s: bake it with slipway image bake (%w)", name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s in the image: %w", name, err)
	}
	return data, nil
}

// blob reads a manifest or an index of the image's layout, or returns nil if the layout does not have it.
func (v *verification) blob(digest string) ([]byte, error) {
	if _, err := fs.Lstat(v.tree, inTree(blobPath(digest))); err != nil {
		return nil, nil
	}
	return v.read(blobPath(digest), maxManifest)
}

// lock reads the image's lock, and its digest.
func (v *verification) lock() (*lock.Lock, string, error) {
	data, err := v.read(recordPath, document.MaxBytes)
	if err != nil {
		return nil, "", err
	}
	l, problems := lock.Parse(data)
	if len(problems) > 0 {
		return nil, "", fmt.Errorf("%s in the image: %s", recordPath, problems[0].String())
	}
	sum := sha256.Sum256(data)
	return l, hex.EncodeToString(sum[:]), nil
}

// manifest reads the image's manifest.
func (v *verification) manifest() (*components.Manifest, error) {
	data, err := v.read(components.Path, components.MaxBytes)
	if err != nil {
		return nil, err
	}
	m, err := components.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s in the image: %w", components.Path, err)
	}
	if m.Made == nil || m.Made.Architecture == "" {
		return nil, errors.New(components.Path + " in the image does not say what made the image: bake it again")
	}
	return &m, nil
}

// file compares one file.
func (v *verification) file(f file) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	v.result.Files++
	v.result.Bytes += max(0, f.Size)
	name := f.component.Name
	info, err := fs.Lstat(v.tree, inTree(f.Path))
	switch {
	case err != nil:
		v.differs(f.Path, name, "it is missing")
		return nil
	case !info.Mode().IsRegular():
		v.differs(f.Path, name, "it is no file")
		return nil
	case f.Size != unknown && info.Size() != f.Size:
		v.differs(f.Path, name, "it has %d bytes, and the lock has %d", info.Size(), f.Size)
		return nil
	}
	if mode := resource.ModeOf(info.Mode()); mode != f.mode {
		v.differs(f.Path, name, "it has mode %04o, and the lock has %04o", mode, f.mode)
	}
	opened, err := v.tree.Open(inTree(f.Path))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	defer opened.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, opened); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		v.differs(f.Path, name, "it has SHA-256 %s, and the lock has %s", got, f.SHA256)
	}
	return nil
}

// compare demands that each component is as another lock has it.
func (v *verification) compare(l, expected *lock.Lock) {
	for _, c := range l.Components {
		other := expected.Find(c.Name)
		one := func(c *lock.Component) []byte { return (&lock.Lock{Components: []lock.Component{*c}}).Encode() }
		switch {
		case other == nil:
			v.differs(recordPath, c.Name, "the image has %s, and the lock that was named has not", c.Name)
		case !bytes.Equal(one(&c), one(other)):
			v.differs(recordPath, c.Name, "the image has %s %s, and it is not as the lock that was named has it (%s)", c.Name, c.Version, other.Version)
		}
	}
}

// inTree is the name of a path in a tree.
func inTree(path string) string { return strings.TrimPrefix(path, "/") }
