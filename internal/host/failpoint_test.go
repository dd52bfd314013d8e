//go:build failpoint

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// witness is a failpoint that lets all changes pass except those that fate fails.
type witness struct {
	mu   sync.Mutex
	seen []failpoint.Mutation
	fate func(m *failpoint.Mutation) failpoint.Fate
}

func (w *witness) Before(m *failpoint.Mutation) failpoint.Fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, *m)
	if w.fate == nil {
		return failpoint.Fate{}
	}
	return w.fate(m)
}

func (w *witness) After(*failpoint.Mutation, error) {}

func install(t *testing.T, fate func(m *failpoint.Mutation) failpoint.Fate) *witness {
	t.Helper()
	w := &witness{fate: fate}
	failpoint.Set(w)
	t.Cleanup(func() { failpoint.Set(nil) })
	return w
}

// everything does each kind of change to a tree at least once.
func everything(d *Directory) error {
	ctx := context.Background()
	_, created := d.CreateExclusive("/events", func(int) string { return "1.json" }, 0o644, []byte("{}"))
	d.LogFile("/var/log/x.log").Write([]byte("line\n"))
	return errors.Join(
		d.WriteFileAtomic(&resource.File{Path: "/etc/a", Mode: 0o640, Content: []byte("content")}),
		d.StageCopy(&resource.Copy{Path: "/opt/copy", Source: "/etc/a"}),
		d.Commit("/opt/copy"),
		d.MakeDirectory(&resource.Directory{Path: "/var/lib/d", Mode: 0o750}),
		d.MakeSymlink(&resource.Symlink{Path: "/etc/link", Target: "a"}),
		created,
		d.Reserve("/var/reserve", 4096),
		d.LoadModule(ctx, "overlay"),
		d.SetSysctl("vm.swappiness", "1"),
		d.StartUnit(ctx, "a.service"),
		d.Remove("/etc/link"),
		d.RemoveDirectory("/var/lib/d"),
		d.Sync(),
	)
}

// Every kind of change is seen, with whole paths, and no changes outside the tree are seen.
func TestFailpointSeesEveryChange(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	w := install(t, nil)
	if err := everything(d); err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]bool)
	for _, m := range w.seen {
		kinds[m.Kind] = true
		if filepath.IsAbs(m.Path) && !strings.HasPrefix(m.Path, root) {
			t.Errorf("%s is outside", m.String())
		}
	}
	for _, kind := range []failpoint.Kind{
		failpoint.Create, failpoint.Write, failpoint.Mode, failpoint.Sync, failpoint.SyncDirectory, failpoint.Close, failpoint.Rename, failpoint.Unlink,
		failpoint.Link, failpoint.Symlink, failpoint.Mkdir, failpoint.Rmdir, failpoint.Allocate, failpoint.Module, failpoint.Sysctl, failpoint.Kind(actionStart),
	} {
		if !kinds[string(kind)] {
			t.Errorf("no %s is seen", kind)
		}
	}
	at := slices.IndexFunc(w.seen, func(m failpoint.Mutation) bool { return m.Kind == "rename" && m.To == root+"/etc/a" })
	if at < 0 || w.seen[at].Path != root+"/etc/.a.slipway-tmp" {
		t.Errorf("renames are not seen whole: %+v", w.seen)
	}
	if !slices.ContainsFunc(w.seen, func(m failpoint.Mutation) bool { return m.Kind == "write" && string(m.Data) == "content" }) {
		t.Error("what is written is not seen")
	}
}

// A change that the failpoint refuses has no effect: so the failpoint sees everything that changes a tree.
func TestFailpointRefusesEveryChange(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	install(t, func(*failpoint.Mutation) failpoint.Fate { return failpoint.Fate{Err: unix.EROFS} })
	if err := everything(d); !errors.Is(err, unix.EROFS) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is there", left, err)
	}
}

// Every call that a signal interrupts is made again.
func TestInterruptedCalls(t *testing.T) {
	d := openDirectory(t, t.TempDir())
	interrupted := make(map[string]int)
	install(t, func(m *failpoint.Mutation) failpoint.Fate {
		if interrupted[m.String()]++; filepath.IsAbs(m.Path) && interrupted[m.String()]%3 != 0 {
			return failpoint.Fate{Err: unix.EINTR}
		}
		return failpoint.Fate{}
	})
	if err := everything(d); err != nil {
		t.Error(err)
	}
}

// A write that fails in the middle leaves a partial file, as a full disk does; the existing file stays.
func TestShortWrite(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	must(t, d.WriteFileAtomic(&resource.File{Path: "/a", Mode: 0o600, Content: []byte("old")}))
	must(t, d.StartUnit(t.Context(), "a.service"))
	for short := range 3 {
		install(t, func(m *failpoint.Mutation) failpoint.Fate {
			if m.Kind == "write" {
				return failpoint.Fate{Err: unix.ENOSPC, Short: short}
			}
			return failpoint.Fate{}
		})
		err := d.WriteFileAtomic(&resource.File{Path: "/a", Mode: 0o600, Content: []byte("new")})
		if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "/a") {
			t.Errorf("got %v", err)
		}
		if err := d.StartUnit(t.Context(), "b.service"); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("got %v", err)
		}
	}
	failpoint.Set(nil)
	if content, err := os.ReadFile(root + "/a"); err != nil || string(content) != "old" {
		t.Errorf("got %q, %v", content, err)
	}
	if content, err := os.ReadFile(root + actionsPath); err != nil || string(content) != `{"action":"start","unit":"a.service"}`+"\n" {
		t.Errorf("recorded %q, %v", content, err)
	}
	if left, _ := filepath.Glob(root + "/.*"); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

// Changes of the machine itself also go through the failpoint.
func TestFailpointOnMachine(t *testing.T) {
	m := &Machine{}
	install(t, func(*failpoint.Mutation) failpoint.Fate { return failpoint.Fate{Err: io.ErrUnexpectedEOF} })
	if _, err := m.Run(t.Context(), &resource.Command{Label: "x", Argv: []string{"/bin/true"}}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("run: %v", err)
	}
	if err := m.LoadModule(t.Context(), "overlay"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("module: %v", err)
	}
	if err := m.SetSysctl("vm.swappiness", "1"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("sysctl: %v", err)
	}
}

// On a file system without unnamed files the result is the same.
func TestCreateExclusiveByName(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	install(t, func(m *failpoint.Mutation) failpoint.Fate {
		if m.Kind == "create" && m.Path == root+"/events" {
			return failpoint.Fate{Err: unix.EOPNOTSUPP}
		}
		return failpoint.Fate{}
	})
	for i, want := range []string{"/events/0.json", "/events/1.json"} {
		path, err := d.CreateExclusive("/events", func(attempt int) string { return fmt.Sprintf("%d.json", attempt) }, 0o644, []byte("{}"))
		if err != nil || path != want {
			t.Errorf("%d: %s, %v, want %s", i, path, err, want)
		}
	}
	if left, err := d.ReadDir("/events"); err != nil || len(left) != 2 {
		t.Errorf("%v, %v is there", left, err)
	}
}
