// Package build makes the disk of a node image: it puts the locked components and the configuration of internal/image/mkosi into a
// directory, runs mkosi there, and converts, checks and describes what mkosi has made.
//
// It runs programs on a workstation: mkosi in a tree of tools, mmdebstrap for this tree, qemu-img for other formats. It is no part of a
// node. internal/image/commands calls it.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/signature"
)

// Build is one image that is built.
type Build struct {
	// Lock has the components, and Cache their files.
	Lock  *lock.Lock
	Cache *cache.Cache
	// Contract applies what needs no cluster: a NodeConfig with the join method None, or a part of another dialect.
	Contract []byte
	// Signature is the signature of the image's manifest, which comes into the image beside it. Nil means that it has none.
	Signature []byte
	// Dir has the configuration, and below "output" what is built.
	Dir string
	// Formats are those besides raw: "qcow2", "vhd".
	Formats []string
	// Tools has mkosi and what it runs.
	Tools *Tools
	// Log gets the output of the programs.
	Log io.Writer
	mkosi.Image
}

// snapshotForm is the form of a snapshot's time.
const snapshotForm = "20060102T150405Z"

// EpochOf is the time of an image's files: SOURCE_DATE_EPOCH, as reproducible-builds.org defines it, or the time of the base's snapshot.
func EpochOf(l *lock.Lock, variable string) (time.Time, error) {
	if variable != "" {
		seconds, err := strconv.ParseInt(variable, 10, 64)
		if err != nil || seconds < 0 {
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: want the seconds since 1970", variable)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if l.Base == nil {
		return time.Time{}, errors.New("the lock has no base, so the image's files have no time: name base.snapshot in components.yaml, or set SOURCE_DATE_EPOCH")
	}
	at, err := time.Parse(snapshotForm, l.Base.Snapshot)
	if err != nil {
		return time.Time{}, fmt.Errorf("base.snapshot: %w", err)
	}
	return at, nil
}

// setInputs makes the digest of what the image is made of.
func (b *Build) setInputs() error {
	document, err := json.Marshal(struct {
		Lock                       []byte
		Contract                   []byte
		Signature                  []byte `json:",omitempty"`
		Architecture, Mirror, Tree string
		Epoch                      int64
	}{b.Lock.Encode(), b.Contract, b.Signature, b.Architecture, b.Mirror, b.Tree, b.Epoch.Unix()})
	b.Inputs = sha256.Sum256(document)
	return err
}

// Configuration is mkosi's configuration.
func (b *Build) Configuration() ([]mkosi.File, error) {
	if err := b.setInputs(); err != nil {
		return nil, err
	}
	b.QCOW2 = slices.Contains(b.Formats, qcow2)
	return b.Files()
}

// EveryNode is the contract of what every node has: containerd's configuration, kernel parameters and modules, the kubelet's unit.
const EveryNode = `apiVersion: slipway.dev/v1
kind: NodeConfig
cluster: {kubernetesVersion: installed}
join: {method: None}
`

// mainFile is the file of the configuration that mkosi needs.
const mainFile = "mkosi.conf"

// written are the names of what Prepare writes, and replaces.
var written = []string{mainFile, "mkosi.finalize.d", "initrd", "mkosi.postoutput", "mkosi.repart", "mkosi.sandbox", "mkosi.extra", mkosi.Components}

// Prepare writes the directory with which mkosi can build the image: the configuration, and the files of the components.
func (b *Build) Prepare(ctx context.Context) error {
	files, err := b.Configuration()
	if err != nil {
		return err
	}
	if err := b.empty(); err != nil {
		return err
	}
	if err := b.components(ctx); err != nil {
		return err
	}
	// mkosi.conf is written last: without it, mkosi builds nothing of a directory that is not complete.
	for _, last := range []bool{false, true} {
		for _, f := range files {
			if (f.Path == mainFile) != last {
				continue
			}
			if err := b.write(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty removes what an earlier run has written.
func (b *Build) empty() error {
	entries, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != mkosi.Output && !slices.Contains(written, name) {
			return fmt.Errorf("%s has %s, so it is not a directory of an image: name a new one", b.Dir, name)
		}
	}
	for _, name := range written {
		if err := os.RemoveAll(filepath.Join(b.Dir, name)); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(b.Dir, mkosi.Output), 0o755)
}

// components puts the components' files into their directory.
func (b *Build) components(ctx context.Context) error {
	dir := filepath.Join(b.Dir, mkosi.Components)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if _, err := bake.Overlay(ctx, dir, b.Lock, b.Architecture, b.Cache); err != nil {
		return err
	}
	if b.Signature != nil {
		manifest, err := os.ReadFile(filepath.Join(dir, components.Path))
		if err != nil {
			return err
		}
		if err := signature.Fits(manifest, b.Signature, components.SignedFor); err != nil {
			return fmt.Errorf("the signature is not one of this image's manifest, %s: %w", filepath.Join(dir, components.Path), err)
		}
		if err := b.write(mkosi.File{Path: filepath.Join(mkosi.Components, components.SignaturePath), Mode: 0o644, Content: b.Signature}); err != nil {
			return err
		}
	}
	return b.write(mkosi.File{Path: filepath.Join(mkosi.Components, place.BaseContracts[0]), Mode: 0o600, Content: b.Contract})
}

func (b *Build) write(f mkosi.File) error {
	name := filepath.Join(b.Dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	var err error
	switch {
	case f.Link != "":
		return os.Symlink(f.Link, name)
	case f.Mode.IsDir():
		err = os.Mkdir(name, f.Mode.Perm())
	default:
		err = os.WriteFile(name, f.Content, f.Mode)
	}
	if err != nil {
		return err
	}
	return os.Chmod(name, f.Mode.Perm()) // whatever the umask is
}
