package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/image/disk"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
	"github.com/slipway-dev/slipway/internal/image/residue"
)

// Format is a format of a disk.
type Format struct {
	Name, Title string
	// write makes the file from the raw disk. It is nil if mkosi makes it.
	write func(b *Build, raw, to string) error
}

// Formats are the formats of disks.
var Formats = []Format{
	{"raw", "the disk's bytes, for a machine of KVM, and for EC2", nil},
	{"qcow2", "for QEMU, OpenStack and KubeVirt", nil},
	{"vhd", "a fixed VHD, for Azure", (*Build).vhd},
}

// Names are the formats' names.
func Names() (names []string) {
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Result is what a build has made.
type Result struct {
	// Manifest is the path of the manifest beside the disk.
	Manifest string `json:"manifest"`
	// Disks are the paths of the disk, by format.
	Disks []Disk `json:"disks"`
	// Check is the result of the check of the disk.
	Check *residue.Report `json:"check"`
}

// Disk is one file.
type Disk struct {
	Format string `json:"format"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Bytes is the file's size, and Allocated what it takes on the disk: a raw disk has holes.
	Bytes int64 `json:"bytes"`
}

// Make runs mkosi in the directory that Prepare has written, converts the disk and describes it. The manifest is the last file that is
// written.
func (b *Build) Make(ctx context.Context) (*Result, error) {
	if err := b.Tools.mkosi(ctx, b.Log, b.Dir, b.Base.Suite, b.Architecture); err != nil {
		return nil, err
	}
	raw := b.output(".raw")
	result := &Result{Manifest: b.output(".manifest.json")}
	tree, err := disk.Open(raw)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	if result.Check, err = residue.Check(ctx, tree); err != nil {
		return nil, fmt.Errorf("%s: %w", raw, err)
	}
	for _, f := range Formats {
		if f.Name != "raw" && !slices.Contains(b.Formats, f.Name) {
			continue
		}
		d := Disk{Format: f.Name, Path: b.output("." + f.Name)}
		if f.write != nil {
			if err := f.write(b, raw, d.Path); err != nil {
				return nil, err
			}
		}
		if d.SHA256, d.Bytes, err = Digest(d.Path); err != nil {
			return nil, err
		}
		result.Disks = append(result.Disks, d)
	}
	file, err := tree.Open(components.Path[1:])
	if err != nil {
		return nil, fmt.Errorf("the image has no manifest: %w", err)
	}
	defer file.Close()
	return result, b.manifest(file, result)
}

// output is the path of a file that the build makes.
func (b *Build) output(ending string) string {
	return filepath.Join(b.Dir, mkosi.Output, mkosi.Name+ending)
}

// vhd writes the VHD. It has its name when it is complete.
func (b *Build) vhd(raw, to string) error {
	from, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer from.Close()
	part, err := os.Create(to + ".part")
	if err != nil {
		return err
	}
	err = writeVHD(part, from, b.Epoch, [16]byte(b.Inputs[:16]))
	if err == nil {
		err = part.Sync()
	}
	if err := errors.Join(err, part.Close()); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return os.Rename(part.Name(), to)
}

// Digest is the SHA-256 digest of a file in hexadecimal, and its size.
func Digest(name string) (sum string, size int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// manifest writes the manifest beside the disk: that of the image, and the disk's digests.
func (b *Build) manifest(inImage io.Reader, r *Result) error {
	data, err := io.ReadAll(io.LimitReader(inImage, components.MaxBytes))
	if err != nil {
		return err
	}
	m, err := components.Parse(data)
	if err != nil {
		return err
	}
	for _, d := range r.Disks {
		m.Made.Disks = append(m.Made.Disks, components.Disk{Format: d.Format, SHA256: d.SHA256, Bytes: d.Bytes})
	}
	signed := b.SecureBoot != nil
	m.Made.SecureBoot = &signed
	file, err := command.CreateFile(r.Manifest, command.Public)
	if err != nil {
		return err
	}
	if err := cli.WriteJSON(file, m); err != nil {
		file.Discard()
		return err
	}
	return file.Commit()
}
