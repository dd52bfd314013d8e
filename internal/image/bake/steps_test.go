//go:build failpoint

package bake_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/lock"
)

// step fails at one change, and at all later ones if the process dies there.
type step struct {
	at, n int
	dies  bool
	err   error
}

// Before implements failpoint.Point.
func (s *step) Before(m *failpoint.Mutation) failpoint.Fate {
	if m.Kind == string(failpoint.Close) {
		return failpoint.Fate{}
	}
	s.n++
	if s.n == s.at || s.dies && s.n > s.at {
		return failpoint.Fate{Err: s.err, Short: len(m.Data) / 2}
	}
	return failpoint.Fate{}
}

// After implements failpoint.Point.
func (*step) After(*failpoint.Mutation, error) {}

// locks are an older and a newer lock whose files the cache has: one file changes, one is removed, one is new, and of two kubelets one
// stays, to which a link leads.
func locks(t *testing.T, c *cache.Cache) (older, newer *lock.Lock) {
	t.Helper()
	of := func(files map[string]string) *lock.Lock {
		l := &lock.Lock{APIVersion: lock.APIVersion, Kind: lock.Kind}
		for _, path := range []string{"/opt/bin/kubelet-1", "/opt/bin/kubelet-2", "/usr/bin/changed", "/usr/bin/old", "/usr/sbin/new"} {
			text, ok := files[path]
			if !ok {
				continue
			}
			digest, err := c.PutData([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			kind := "file"
			if strings.Contains(path, "kubelet") {
				kind = "kubelet"
			}
			l.Components = append(l.Components, lock.Component{Name: filepath.Base(path), Kind: kind, Version: "1", Wanted: "1", License: "MIT", Artifacts: []lock.Artifact{{
				Architecture: "amd64", Sources: []string{"./x"}, SHA256: digest, Size: int64(len(text)),
				Files: []lock.File{{Path: path, Mode: "0755", SHA256: digest, Size: int64(len(text))}},
			}}})
		}
		return l
	}
	return of(map[string]string{"/opt/bin/kubelet-1": "1", "/opt/bin/kubelet-2": "2", "/usr/bin/changed": strings.Repeat("first", 50_000), "/usr/bin/old": "old"}),
		of(map[string]string{"/opt/bin/kubelet-2": "2", "/usr/bin/changed": strings.Repeat("second", 50_000), "/usr/sbin/new": "new"})
}

// content is a tree's files, without the locks.
func content(t *testing.T, root string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			all[strings.TrimPrefix(path, root)] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, root)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A baking that fails or dies at any change leaves each file as it was or as it is to be, and the next one ends as an undisturbed one.
func TestEachStep(t *testing.T) {
	for _, point := range []step{{dies: true, err: errors.New("dead")}, {err: unix.ENOSPC}} {
		steps := 0
		for at := 1; steps == 0; at++ {
			c, err := cache.Open(context.Background(), t.TempDir(), func() {})
			if err != nil {
				t.Fatal(err)
			}
			older, newer := locks(t, c)
			run := func(root string, l *lock.Lock) error {
				_, err := bake.Tree(context.Background(), root, l, "amd64", c)
				return err
			}
			root, clean := t.TempDir(), t.TempDir()
			for _, dir := range []string{root, clean} {
				if err := errors.Join(os.MkdirAll(dir+"/usr/lib/systemd", 0o755), os.WriteFile(dir+"/usr/lib/systemd/systemd", nil, 0o755), run(dir, older)); err != nil {
					t.Fatal(err)
				}
			}
			before := content(t, root)
			if err := run(clean, newer); err != nil {
				t.Fatal(err)
			}
			after := content(t, clean)
			now := point
			now.at = at
			failpoint.Set(&now)
			failed := run(root, newer)
			failpoint.Set(nil)
			if now.n < at {
				steps = at - 1
			} else if failed == nil && point.dies {
				t.Errorf("step %d: no error", at)
			}
			for name, text := range content(t, root) {
				if base := filepath.Base(name); !strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".next") && !slices.Contains([]string{before[name], after[name]}, text) {
					t.Errorf("step %d: %s is half-written: %d bytes", at, name, len(text))
				}
			}
			if err := run(root, newer); err != nil {
				t.Fatalf("after step %d: %v", at, err)
			}
			got := content(t, root)
			for name, text := range after {
				if got[name] != text {
					t.Errorf("after step %d: %s differs", at, name)
				}
			}
			if len(got) != len(after) {
				t.Errorf("after step %d: %d files, want %d", at, len(got), len(after))
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d steps", steps)
	}
}
