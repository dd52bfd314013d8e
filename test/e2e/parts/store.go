// Package parts makes what the machines of the end-to-end test are made of: the kernel, the root
// file system, Kubernetes, etcd, containerd, the CNI plug-ins, the images and the node's disk.
//
// Every part is kept in a cache, in a directory named after a digest of all that went into it; a
// part that is there is not made again. The package starts no machine. test/e2e/cmd/e2e calls it.
package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	// Dir is where the parts are kept.
	Dir string
	// Repo is the root of the repository.
	Repo string
	Log  *slog.Logger
}

// recipe says how a part is made, and from what.
type recipe struct {
	name string
	// inputs are all that decides what comes out.
	inputs []string
	// files are read, and their names and contents are inputs; a directory stands for all below it.
	files []string
	// make fills the directory.
	make func(ctx context.Context, dir string) error
}

// part returns the directory of a part, and makes it where it is missing.
func (s *Store) part(ctx context.Context, r recipe) (string, error) {
	key, err := r.key()
	if err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	dir := filepath.Join(s.Dir, r.name+"-"+key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	begin := time.Now()
	s.Log.Info("making", "part", r.name)
	scratch := dir + ".new"
	if err := os.RemoveAll(scratch); err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	if err := r.make(ctx, scratch); err != nil {
		os.RemoveAll(scratch)
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	if err := s.forget(r.name, len(key)); err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	if err := os.Rename(scratch, dir); err != nil {
		return "", fmt.Errorf("part %s: %w", r.name, err)
	}
	s.Log.Info("made", "part", r.name, "seconds", int(time.Since(begin).Seconds()))
	return dir, nil
}

// forget removes what an older recipe of the same name made.
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

// key is a digest of all that goes in.
func (r *recipe) key() (string, error) {
	sum := sha256.New()
	for _, input := range r.inputs {
		fmt.Fprintf(sum, "%q\n", input)
	}
	for _, top := range r.files {
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

// run runs a program quietly; when it fails, its last words are in the error.
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

// tail is the end of a text, at most size bytes of it.
func tail(text []byte, size int) string {
	text = bytes.TrimSpace(text)
	if len(text) > size {
		text = text[len(text)-size:]
	}
	return string(text)
}
