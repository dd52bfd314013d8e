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

// The formats of disks. mkosi makes raw, and with qemu-img qcow2.
const (
	raw   = "raw"
	qcow2 = "qcow2"
	vhd   = "vhd"
)

// Formats are the names of the formats. Each build makes the first.
var Formats = []string{raw, qcow2, vhd}

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
	Path string `json:"path"`
	components.Disk
}

// Make runs mkosi in the directory that Prepare has written, converts the disk and describes it. The manifest is the last file that is
// written.
func (b *Build) Make(ctx context.Context) (*Result, error) {
	if err := b.Tools.mkosi(ctx, b.Log, b.Dir, b.Base.Suite, b.Architecture); err != nil {
		return nil, err
	}
	result := &Result{Manifest: b.output("manifest.json")}
	tree, err := disk.Open(b.output(raw))
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	if result.Check, err = residue.Check(ctx, tree); err != nil {
		return nil, fmt.Errorf("%s: %w", b.output(raw), err)
	}
	for _, format := range Formats {
		if format != raw && !slices.Contains(b.Formats, format) {
			continue
		}
		if format == vhd {
			if err := b.vhd(); err != nil {
				return nil, err
			}
		}
		d := Disk{Path: b.output(format), Disk: components.Disk{Format: format}}
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
	files, err := filesDigest(tree)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.output(raw), err)
	}
	return result, b.manifest(file, files, result)
}

// output is the path of a file that the build makes.
func (b *Build) output(ending string) string {
	return filepath.Join(b.Dir, mkosi.Output, mkosi.Name+"."+ending)
}

// vhd writes the VHD. It has its name when it is complete.
func (b *Build) vhd() error {
	to := b.output(vhd)
	from, err := os.Open(b.output(raw))
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
	return digest(file)
}

func digest(file io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// manifest writes the manifest beside the disk: that of the image, the digest of its files, and the disk's digests.
func (b *Build) manifest(inImage io.Reader, files string, r *Result) error {
	data, err := io.ReadAll(io.LimitReader(inImage, components.MaxBytes))
	if err != nil {
		return err
	}
	m, err := components.Parse(data)
	if err != nil {
		return err
	}
	for _, d := range r.Disks {
		m.Made.Disks = append(m.Made.Disks, d.Disk)
	}
	signed := b.SecureBoot != nil
	m.Made.SecureBoot, m.Made.Files = &signed, files
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
