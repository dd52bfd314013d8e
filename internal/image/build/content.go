package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/disk"
)

// store is containerd's. It has the times of the container images' import, so two builds of the same inputs have different ones.
const store = "var/lib/containerd"

// described is what the same inputs decide of a file.
type described struct {
	path string
	mode fs.FileMode
	time int64 // in nanoseconds since 1970
	// content is the digest of a file's content, or the target of a link.
	content string
}

// describe describes the files of a tree but for containerd's store, each directory before its files.
func describe(tree fs.FS) (all []described, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == store && entry.IsDir() {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		d := described{path: "/" + strings.TrimPrefix(name, "."), mode: info.Mode(), time: info.ModTime().UnixNano()}
		switch d.mode.Type() {
		case 0:
			d.content, err = contentOf(tree, name)
		case fs.ModeSymlink:
			d.content, err = fs.ReadLink(tree, name)
		}
		all = append(all, d)
		return err
	})
	return all, err
}

// contentOf is the digest of a file's content.
func contentOf(tree fs.FS, name string) (string, error) {
	file, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	sum, _, err := digest(file)
	return sum, errors.Join(err, file.Close())
}

// filesDigest is the digest of what the same inputs decide of a tree, in hexadecimal.
func filesDigest(tree fs.FS) (string, error) {
	all, err := describe(tree)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, d := range all {
		fmt.Fprintf(hash, "%q %v %d %q\n", d.path, d.mode, d.time, d.content) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// compareDisks names how two raw disks differ, but for containerd's store.
func compareDisks(first, second string) ([]bake.Difference, error) {
	var trees [2]fs.FS
	var before [2]string
	for i, name := range []string{first, second} {
		tree, err := disk.Open(name)
		if err != nil {
			return nil, err
		}
		defer tree.Close()
		trees[i] = tree
		if before[i], err = beginning(name, tree.Start()); err != nil {
			return nil, err
		}
	}
	differences, err := compareTrees(trees[0], trees[1])
	if err != nil {
		return nil, err
	}
	if before[0] != before[1] {
		differences = append(differences, bake.Difference{Path: first, Reason: "what is before its root file system differs when the image is made again"})
	}
	if _, err := fs.Lstat(trees[0], store); errors.Is(err, fs.ErrNotExist) && len(differences) == 0 {
		differences = append(differences, bake.Difference{Path: first, Reason: "it differs when the image is made again, and no file does"})
	}
	return differences, nil
}

// beginning is the digest of the first bytes of a file.
func beginning(name string, size int64) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum, _, err := digest(io.LimitReader(file, size))
	return sum, err
}

// compareTrees names the files that differ in what the same inputs decide, or that one tree lacks.
func compareTrees(first, second fs.FS) (differences []bake.Difference, err error) {
	one, err := describe(first)
	if err != nil {
		return nil, err
	}
	two, err := describe(second)
	if err != nil {
		return nil, err
	}
	differs := func(path, reason string) {
		differences = append(differences, bake.Difference{Path: path, Reason: reason})
	}
	again := byPath(two)
	for _, d := range one {
		switch a, is := again[d.path]; {
		case !is:
		case d.mode != a.mode:
			differs(d.path, fmt.Sprintf("its mode is %v, and %v when the image is made again", d.mode, a.mode))
		case d.time != a.time:
			differs(d.path, "its time differs when the image is made again")
		case d.content != a.content:
			differs(d.path, "its content differs when the image is made again")
		}
	}
	for _, path := range missing(one, again) {
		differs(path, "it is missing when the image is made again")
	}
	for _, path := range missing(two, byPath(one)) {
		differs(path, "it is there only when the image is made again")
	}
	return differences, nil
}

func byPath(all []described) map[string]described {
	m := make(map[string]described, len(all))
	for _, d := range all {
		m[d.path] = d
	}
	return m
}

// missing are the paths that a tree lacks. If it lacks a directory, that one stands for its files.
func missing(all []described, from map[string]described) (paths []string) {
	for _, d := range all {
		if _, is := from[d.path]; is || len(paths) > 0 && strings.HasPrefix(d.path, paths[len(paths)-1]+"/") {
			continue
		}
		paths = append(paths, d.path)
	}
	return paths
}
