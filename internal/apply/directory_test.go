package apply_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// watched is a directory that calls before ahead of each call, which may prevent the call.
type watched struct {
	*host.Directory
	before func(call) error
}

func (w *watched) Lock(ctx context.Context, name string) (func() error, error) {
	if err := w.before(call{"lock", name}); err != nil {
		return nil, err
	}
	unlock, err := w.Directory.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	_ = w.before(call{"locked", name})
	return func() error {
		_ = w.before(call{"unlock", name})
		return unlock() // the kernel drops the lock of a process that dies
	}, nil
}

func (w *watched) Stage(f *resource.File) error {
	if err := w.before(call{"stage", f.Path}); err != nil {
		return err
	}
	return w.Directory.Stage(f)
}

func (w *watched) StageAll(files []*resource.File) []error {
	errs := make([]error, len(files))
	for i, f := range files {
		errs[i] = w.Stage(f)
	}
	return errs
}

func (w *watched) Commit(name string) error {
	if err := w.before(call{"commit", name}); err != nil {
		return err
	}
	return w.Directory.Commit(name)
}

func (w *watched) Unstage(name string) error {
	if err := w.before(call{"unstage", name}); err != nil {
		return err
	}
	return w.Directory.Unstage(name)
}

func (w *watched) MakeDirectory(d *resource.Directory) error {
	if err := w.before(call{"mkdir", d.Path}); err != nil {
		return err
	}
	return w.Directory.MakeDirectory(d)
}

func (w *watched) MakeSymlink(l *resource.Symlink) error {
	if err := w.before(call{"symlink", l.Path}); err != nil {
		return err
	}
	return w.Directory.MakeSymlink(l)
}

func (w *watched) Remove(name string) error {
	if err := w.before(call{"remove", name}); err != nil {
		return err
	}
	return w.Directory.Remove(name)
}

func (w *watched) Sync() error {
	if err := w.before(call{"sync", ""}); err != nil {
		return err
	}
	return w.Directory.Sync()
}

func (w *watched) ReloadUnits(ctx context.Context) error {
	if err := w.before(call{"reload", ""}); err != nil {
		return err
	}
	return w.Directory.ReloadUnits(ctx)
}

func (w *watched) StartUnit(ctx context.Context, name string) error {
	if err := w.before(call{"start", name}); err != nil {
		return err
	}
	return w.Directory.StartUnit(ctx, name)
}

func (w *watched) RestartUnit(ctx context.Context, name string) error {
	if err := w.before(call{"restart", name}); err != nil {
		return err
	}
	return w.Directory.RestartUnit(ctx, name)
}

func directory(t *testing.T, root string, before func(call) error) *watched {
	t.Helper()
	dir, err := host.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	if before == nil {
		before = func(call) error { return nil }
	}
	return &watched{dir, before}
}

// tree lists a directory's content: kind, mode, and the digest of the content or the target. It leaves out the record
// of actions, because every run adds to it.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "/actions.jsonl") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		case fs.ModeSymlink:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		fmt.Fprintln(&b, info.Mode(), strings.TrimPrefix(path, root), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func smallPlan(content string) resource.Plan {
	return with(
		resource.Resource{Spec: &resource.Directory{Path: "/etc/d", Mode: 0o700}},
		resource.Resource{Spec: &resource.File{Path: "/etc/d/secret", Mode: 0o600, Content: []byte(content), Secret: true}, Effects: resource.Restarting("a.service")},
		file("/etc/systemd/system/a.service", content, "a.service"),
		resource.Resource{Spec: &resource.Symlink{Path: "/etc/link", Target: "/etc/" + content}},
		resource.Resource{Spec: &resource.Sysctl{Key: "vm.x", Value: content}},
		started("a.service"),
	)
}

// The agent dies at every changing call in a real tree of files. The next run leaves the same tree as an uninterrupted
// run, with the unit started or restarted afterwards.
func TestDeathInDirectory(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		prepare := func(before func(call) error) (*watched, string) {
			root := hosttest.TempDir(t)
			if !fresh {
				applied(t, directory(t, root, nil), smallPlan("old"))
			}
			return directory(t, root, before), root
		}
		var calls []call
		whole, wholeRoot := prepare(func(c call) error { calls = append(calls, c); return nil })
		applied(t, whole, smallPlan("new"))
		want := tree(t, wholeRoot)
		for n := range calls {
			at := 0
			dying, root := prepare(func(call) error {
				if at++; at > n {
					return errDead
				}
				return nil
			})
			_ = try(dying, smallPlan("new"))
			var again []call
			next := directory(t, root, func(c call) error { again = append(again, c); return nil })
			applied(t, next, smallPlan("new"))
			if got := tree(t, root); got != want {
				t.Errorf("fresh %v, dies before %s: got\n%swant\n%s", fresh, calls[n], got, want)
			}
			acted := false
			for _, c := range append(calls[:n:n], again...) {
				acted = acted || (c.op == "start" || c.op == "restart") && c.name == "a.service"
			}
			if !acted {
				t.Errorf("fresh %v, dies before %s: the unit was not acted on", fresh, calls[n])
			}
		}
	}
}

// Engines of several agents apply to one tree, each with the lock: one waits for the other, and the tree is exactly one
// agent's.
func TestConcurrentApplies(t *testing.T) {
	root := hosttest.TempDir(t)
	plans := []resource.Plan{smallPlan("one"), smallPlan("two"), smallPlan("three")}
	wants := make(map[string]bool)
	for _, p := range plans {
		alone := hosttest.TempDir(t)
		dir := directory(t, alone, nil)
		unlock, err := apply.Lock(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		applied(t, dir, p)
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		wants[tree(t, alone)] = true
	}
	for range 5 {
		var mu sync.Mutex
		holder, overlaps := -1, 0
		var wait sync.WaitGroup
		for i, p := range plans {
			dir := directory(t, root, func(c call) error {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case c.op == "locked":
					if holder != -1 {
						overlaps++
					}
					holder = i
				case c.op == "unlock":
					holder = -1
				case c.changes() && holder != i:
					overlaps++
				}
				return nil
			})
			wait.Go(func() {
				unlock, err := apply.Lock(t.Context(), dir)
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				e := engine(dir)
				e.Sequential = false
				if _, err := e.Apply(t.Context(), p); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if overlaps > 0 {
			t.Errorf("%d calls were made while another held the lock", overlaps)
		}
		if got := tree(t, root); !wants[got] {
			t.Errorf("the tree is not any one agent's:\n%s", got)
		}
	}
}

var _ apply.Host = (*watched)(nil)
