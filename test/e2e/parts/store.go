// Package parts builds the parts of the end-to-end test's machines: Kubernetes, etcd, containerd, the CNI plug-ins, the pods' images, and the
// node images, which "slipway image build" makes.
//
// Every part is cached, in a directory that is named after a digest of all its inputs; a cached part is not built again. The
// package starts no machine, but it stores machines that others have started and saved. test/e2e/cmd/e2e and test/e2e/scenario call
// it.
package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Store is the cache of parts.
type Store struct {
	// Dir is the directory of the parts.
	Dir string
	// Repo is the root of the repository.
	Repo string
	Log  *slog.Logger
}

// recipe is how a part is built, and its inputs.
type recipe struct {
	name string
	// inputs are all values that affect the result.
	inputs []string
	// files are read, and their names and contents are inputs; a directory means all files below it.
	files []string
	// make fills the directory.
	make func(ctx context.Context, dir string) error
	// last, if not empty, is the file that make writes last. Then the part's files name their own directory, so it is built in its
	// final directory, and is complete when this file exists.
	last string
}

// Machine returns a directory with a saved machine, and makes it if it is missing. inputs are all values that affect the result,
// except QEMU's version, which also does; last is the file that fill writes last. A saved machine names its own disk, so that the
// directory cannot be moved.
func (s *Store) Machine(ctx context.Context, name, last string, inputs []string, fill func(ctx context.Context, dir string) error) (string, error) {
	version, err := qemuVersion(ctx)
	if err != nil {
		return "", fmt.Errorf("part %s: %w", name, err)
	}
	return s.part(ctx, recipe{name: name, inputs: append(inputs, version), make: fill, last: last})
}

// part returns the directory of a part, and builds it if it is missing.
func (s *Store) part(ctx context.Context, r recipe) (string, error) {
	key, err := Digest(r.inputs, r.files)
	if err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	dir := filepath.Join(s.Dir, r.name+"-"+key)
	if _, err := os.Stat(filepath.Join(dir, r.last)); err == nil {
		return dir, nil
	}
	begin := time.Now()
	s.Log.Info("making", "part", r.name)
	if r.last != "" {
		err = s.makeInPlace(ctx, r, dir, len(key))
	} else {
		err = s.makeAside(ctx, r, dir, len(key))
	}
	if err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	s.Log.Info("made", "part", r.name, "seconds", int(time.Since(begin).Seconds()))
	return dir, nil
}

// makeAside builds a part in a temporary directory, and renames it when it is complete.
func (s *Store) makeAside(ctx context.Context, r recipe, dir string, keyLen int) error {
	scratch := dir + ".new"
	if err := os.RemoveAll(scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	if err := r.make(ctx, scratch); err != nil {
		os.RemoveAll(scratch)
		return err
	}
	if err := s.forget(r.name, keyLen); err != nil {
		return err
	}
	return os.Rename(scratch, dir)
}

// makeInPlace builds a part in its final directory. It first removes the remains of a dead run, together with older ones.
func (s *Store) makeInPlace(ctx context.Context, r recipe, dir string, keyLen int) error {
	if err := s.forget(r.name, keyLen); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return r.make(ctx, dir)
}

// forget removes the results of recipes with the same name.
func (s *Store) forget(name string, keyLen int) error {
	old, err := filepath.Glob(filepath.Join(s.Dir, name+"-"+strings.Repeat("?", keyLen)))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// Digest is a digest of inputs, and of the names and contents of files; a directory means all files below it.
func Digest(inputs, files []string) (string, error) {
	sum := sha256.New()
	for _, input := range inputs {
		fmt.Fprintf(sum, "%q\n", input)
	}
	for _, top := range files {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(filepath.Dir(top), path)
			if err != nil {
				return err
			}
			if d.Type()&fs.ModeSymlink != 0 {
				target, err := os.Readlink(path)
				fmt.Fprintf(sum, "%q -> %q\n", rel, target)
				return err
			}
			content, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%q %d %x\n", rel, len(content), sha256.Sum256(content))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// run runs a program quietly. If it fails, the error has the end of its output.
func run(ctx context.Context, dir string, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv[:min(len(argv), 3)], " "), err, tail(out.Bytes(), 2000))
	}
	return nil
}

// output runs a program, and returns what it prints.
func output(ctx context.Context, argv ...string) ([]byte, error) {
	return filter(ctx, "", nil, argv...)
}

// filter runs a program in a directory with an input, and returns what it prints.
func filter(ctx context.Context, dir string, input io.Reader, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, input
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv[:min(len(argv), 3)], " "), err, tail(stderr.Bytes(), 2000))
	}
	return out, err
}

// removeAll removes files and directories below a directory.
func removeAll(dir string, names ...string) error {
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// tail is the end of a text, at most size bytes of it.
func tail(text []byte, size int) string {
	text = bytes.TrimSpace(text)
	if len(text) > size {
		text = text[len(text)-size:]
	}
	return string(text)
}
