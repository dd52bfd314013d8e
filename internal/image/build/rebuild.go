package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/disk"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
)

// Rebuilder makes an image again.
type Rebuilder struct {
	// Disk is the raw disk that Make has made, in the directory "output" of the directory with the configuration.
	Disk string
	// Suite and Architecture are the image's.
	Suite, Architecture string
	Tools               *Tools
	Log                 io.Writer
}

// Compare makes the disk again, and returns how the two differ. The second one is removed again.
func (r *Rebuilder) Compare(ctx context.Context) (differences []bake.Difference, err error) {
	output, err := filepath.Abs(filepath.Dir(r.Disk))
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(output)
	if _, err := os.Stat(filepath.Join(dir, mainFile)); err != nil || filepath.Base(r.Disk) != mkosi.Name+"."+raw {
		return nil, fmt.Errorf("%s is not the raw disk of slipway image build, beside its configuration: name DIR/%s/%s.%s", r.Disk, mkosi.Output, mkosi.Name, raw)
	}
	again, err := os.MkdirTemp(output, "again-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(again)) }()
	if err := r.Tools.mkosi(ctx, r.Log, dir, r.Suite, r.Architecture, "--output-directory", again); err != nil {
		return nil, err
	}
	second := filepath.Join(again, filepath.Base(r.Disk))
	var sums [2]string
	for i, name := range []string{r.Disk, second} {
		if sums[i], _, err = Digest(name); err != nil {
			return nil, err
		}
	}
	if sums[0] == sums[1] {
		return nil, nil
	}
	differences = []bake.Difference{{Path: r.Disk, Reason: fmt.Sprintf("it has SHA-256 %s, and %s when it is made again", sums[0], sums[1])}}
	files, err := compareDisks(r.Disk, second)
	return append(differences, files...), err
}

// compareDisks names the files of two disks that differ.
func compareDisks(first, second string) (differences []bake.Difference, err error) {
	var trees [2]fs.FS
	for i, name := range []string{first, second} {
		tree, err := disk.Open(name)
		if err != nil {
			return nil, err
		}
		defer tree.Close()
		trees[i] = tree
	}
	return compareTrees(trees[0], trees[1])
}

// compareTrees names the files that differ: in kind, mode, size or content, or that one tree lacks.
func compareTrees(first, second fs.FS) (differences []bake.Difference, err error) {
	differs := func(name, reason string) {
		differences = append(differences, bake.Difference{Path: "/" + strings.TrimPrefix(name, "."), Reason: reason})
	}
	err = fs.WalkDir(first, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		one, err := entry.Info()
		if err != nil {
			return err
		}
		two, err := fs.Lstat(second, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			differs(name, "it is missing when the image is made again")
			if entry.IsDir() {
				return fs.SkipDir
			}
		case err != nil:
			return err
		case one.Mode() != two.Mode():
			differs(name, fmt.Sprintf("its mode is %v, and %v when the image is made again", one.Mode(), two.Mode()))
		case !one.ModTime().Equal(two.ModTime()):
			differs(name, "its time differs when the image is made again")
		case one.Mode().IsRegular():
			equal, err := sameContent(first, second, name)
			if err != nil {
				return err
			}
			if !equal {
				differs(name, "its content differs when the image is made again")
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(second, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := fs.Lstat(first, name); errors.Is(err, fs.ErrNotExist) {
			differs(name, "it is there only when the image is made again")
			if entry.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return differences, err
}

// sameContent compares a file of two trees.
func sameContent(first, second fs.FS, name string) (bool, error) {
	var sums [2]string
	for i, tree := range []fs.FS{first, second} {
		file, err := tree.Open(name)
		if err != nil {
			return false, err
		}
		sum, _, err := digest(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return false, err
		}
		sums[i] = sum
	}
	return sums[0] == sums[1], nil
}
