package host

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func TestWaitForFilesThatExist(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("b"), nil, 0o644))
	must(t, os.Symlink("nowhere", at("c")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what is there is there, however little time there is
	for _, test := range []struct {
		want  string
		paths []string
	}{
		{"/b", []string{"/a", "/b", "/c"}},
		{"/c", []string{"/missing/dir/x", "/c", "/b"}},
		{"/", []string{"/"}},
	} {
		if got, err := tree.WaitForFiles(ctx, test.paths...); err != nil || got != test.want {
			t.Errorf("%q: got %q, %v", test.paths, got, err)
		}
	}
}

func TestWaitForFilesThatAppear(t *testing.T) {
	const path = "/opt/azure/containers/provision.complete"
	for _, test := range []struct {
		name  string
		steps []func(at func(string) string) error
	}{
		{"created", []func(func(string) string) error{
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			nil,
			func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) },
		}},
		{"renamed into place", []func(func(string) string) error{
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at("tmp"), nil, 0o600) },
			nil,
			func(at func(string) string) error { return os.Rename(at("tmp"), at(path)) },
		}},
		{"parents made later", []func(func(string) string) error{
			nil,
			func(at func(string) string) error { return os.Mkdir(at("opt"), 0o755) },
			func(at func(string) string) error { return os.Mkdir(at("opt/azure"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at("opt/other"), nil, 0o600) },
			func(at func(string) string) error { return os.Mkdir(at("opt/azure/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) },
		}},
		{"parents made at once", []func(func(string) string) error{
			nil,
			func(at func(string) string) error {
				if err := os.MkdirAll(at("opt/azure/containers"), 0o755); err != nil {
					return err
				}
				return os.WriteFile(at(path), nil, 0o600)
			},
		}},
		{"parent made anew", []func(func(string) string) error{
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			nil,
			func(at func(string) string) error { return os.RemoveAll(at("opt/azure")) },
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) },
		}},
		{"parent moved away", []func(func(string) string) error{
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			nil,
			func(at func(string) string) error { return os.Rename(at("opt/azure"), at("opt/old")) },
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) },
		}},
		{"by a link made later", []func(func(string) string) error{
			func(at func(string) string) error { return os.MkdirAll(at("mnt/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at("mnt/containers/provision.complete"), nil, 0o600) },
			func(at func(string) string) error { return os.Mkdir(at("opt"), 0o755) },
			nil,
			func(at func(string) string) error { return os.Symlink("/mnt", at("opt/azure")) },
		}},
		{"a file where a directory is to be", []func(func(string) string) error{
			func(at func(string) string) error { return os.WriteFile(at("opt"), nil, 0o644) },
			nil,
			func(at func(string) string) error { return os.Remove(at("opt")) },
			func(at func(string) string) error { return os.MkdirAll(at("opt/azure/containers"), 0o755) },
			func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) },
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree, at := newTree(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			type result struct {
				path string
				err  error
			}
			done := make(chan result, 1)
			for _, step := range test.steps {
				if step == nil {
					go func() {
						got, err := tree.WaitForFiles(ctx, path, "/other")
						done <- result{got, err}
					}()
				} else {
					must(t, step(at))
				}
				time.Sleep(5 * time.Millisecond)
			}
			if got := <-done; got.err != nil || got.path != path {
				t.Errorf("got %q, %v", got.path, got.err)
			}
		})
	}
}

func TestWaitForFilesRaces(t *testing.T) {
	tree, at := newTree(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := range 60 {
		go func() {
			time.Sleep(time.Duration(i%20) * 10 * time.Microsecond)
			os.MkdirAll(at("a/b"), 0o755)
			os.WriteFile(at("a/b/f"), nil, 0o600)
		}()
		if _, err := tree.WaitForFiles(ctx, "/a/b/f"); err != nil {
			t.Fatal(err)
		}
		must(t, os.RemoveAll(at("a")))
	}
}

func TestWaitForFilesCanceled(t *testing.T) {
	tree, _ := newTree(t)
	ctx, cancel := context.WithCancel(t.Context())
	var canceled time.Time
	time.AfterFunc(20*time.Millisecond, func() {
		canceled = time.Now()
		cancel()
	})
	_, err := tree.WaitForFiles(ctx, "/a/b", "/c")
	wantError(t, err, "wait for /a/b or /c")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not ctx's error", err)
	}
	if late := time.Since(canceled); late > 500*time.Millisecond {
		t.Errorf("returned %s after the cancel", late)
	}
	if got := list(t, tree.name); len(got) != 0 {
		t.Errorf("it made %q", got)
	}
	if _, err := tree.WaitForFiles(t.Context(), "relative"); err == nil {
		t.Error("a relative path is waited for")
	}
}
