package apply_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// contents are the files of an apply below a directory, with their modes.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root)
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(name, "/run/") {
			return err
		}
		content, err := os.ReadFile(path)
		info, _ := d.Info()
		found[name] = info.Mode().String() + string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// In parallel or in sequence, the tree is the same. If a file cannot be staged, no other file becomes visible.
func TestStagedInParallel(t *testing.T) {
	p := aksPlan(t)
	trees := make(map[bool]map[string]string)
	for _, sequential := range []bool{true, false} {
		root := hosttest.TempDir(t)
		dir, err := host.OpenDirectory(root)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		refused := []string{"/etc/containerd/config.toml", "/var/lib/kubelet/bootstrap-kubeconfig"}
		w := &watched{Directory: dir, before: func(c call) error {
			if c.op == "stage" && slices.Contains(refused, c.name) {
				return errInjected
			}
			return nil
		}}
		e := engine(w)
		e.Sequential = sequential
		_, err = e.Apply(t.Context(), p)
		for _, path := range refused {
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s is not in the error: %v", path, err)
			}
		}
		if got := contents(t, root); len(got) != 0 || !errors.Is(err, errInjected) {
			t.Errorf("sequential %v: a failed apply has brought %v", sequential, got)
		}
		refused = nil
		if _, err := e.Apply(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		trees[sequential] = contents(t, root)
	}
	if len(trees[true]) < 20 {
		t.Errorf("only %d files", len(trees[true]))
	}
	for path, want := range trees[true] {
		if got := trees[false][path]; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// The critical path is what a run waited for, and no more: of two requirements, the slower.
func TestCriticalPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.before = func(c call) error {
			if c.op == "start" && c.name != "fast.service" {
				time.Sleep(time.Second)
			}
			return nil
		}
		e := engine(m)
		e.Sequential = false
		report, err := e.Apply(t.Context(), with(
			resource.Resource{Spec: &resource.File{Path: "/etc/a", Mode: 0o644}},
			started("fast.service"), started("slow.service"),
			started("last.service", "Unit:fast.service", "Unit:slow.service"),
		))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"compare", "write", "Unit:slow.service", "Unit:last.service"}
		if !slices.Equal(report.Critical, want) {
			t.Errorf("the critical path is %v, want %v", report.Critical, want)
		}
		for _, name := range report.Critical {
			if !slices.ContainsFunc(report.Steps, func(s apply.Step) bool { return s.Name == name }) {
				t.Errorf("%s is no step", name)
			}
		}
	})
}
