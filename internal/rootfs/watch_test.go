package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestWaitForFilesThatExist(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("b"), nil, 0o644))
	must(t, os.Symlink("nowhere", at("c")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // an existing file is found however short the time is
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

// treeStep changes a tree. nil marks the moment when the waiting begins.
type treeStep func(at func(string) string) error

func mkdirs(path string) treeStep {
	return func(at func(string) string) error { return os.MkdirAll(at(path), 0o755) }
}

func touch(path string) treeStep {
	return func(at func(string) string) error { return os.WriteFile(at(path), nil, 0o600) }
}

func remove(path string) treeStep {
	return func(at func(string) string) error { return os.RemoveAll(at(path)) }
}

func move(from, to string) treeStep {
	return func(at func(string) string) error { return os.Rename(at(from), at(to)) }
}

func symlink(target, path string) treeStep {
	return func(at func(string) string) error { return os.Symlink(target, at(path)) }
}

func TestWaitForFilesThatAppear(t *testing.T) {
	const (
		dir  = "/opt/azure/containers"
		path = dir + "/provision.complete"
	)
	for name, steps := range map[string][]treeStep{
		"created":             {mkdirs(dir), nil, touch(path)},
		"renamed into place":  {mkdirs(dir), touch("/tmp"), nil, move("/tmp", path)},
		"parents made later":  {nil, mkdirs("/opt"), mkdirs("/opt/azure"), touch("/opt/other"), mkdirs(dir), touch(path)},
		"parents made before": {nil, mkdirs(dir), touch(path)},
		"parent made again":   {mkdirs(dir), nil, remove("/opt/azure"), mkdirs(dir), touch(path)},
		"parent moved away":   {mkdirs(dir), nil, move("/opt/azure", "/opt/old"), mkdirs(dir), touch(path)},
		"by a link made later": {
			mkdirs("/mnt/containers"), touch("/mnt/containers/provision.complete"), mkdirs("/opt"), nil, symlink("/mnt", "/opt/azure"),
		},
		"by a link that led nowhere": {mkdirs("/opt"), symlink("../mnt", "/opt/azure"), nil, mkdirs("/mnt/containers"), touch(path)},
		"where there was a file":     {touch("/opt"), nil, remove("/opt"), mkdirs(dir), touch(path)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, at := newTree(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			done := make(chan error, 1)
			for _, step := range steps {
				if step == nil {
					go func() {
						got, err := tree.WaitForFiles(ctx, path, "/other")
						if err == nil && got != path {
							err = fmt.Errorf("got %q", got)
						}
						done <- err
					}()
				} else {
					must(t, step(at))
				}
				hosttest.Pause(500)
			}
			must(t, <-done)
		})
	}
}

func TestWaitForFilesRaces(t *testing.T) {
	tree, at := newTree(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 60 {
		go func() {
			hosttest.Pause(i % 20)
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
	go func() {
		hosttest.Pause(2000)
		cancel()
	}()
	_, err := tree.WaitForFiles(ctx, "/a/b", "/c")
	wantError(t, err, "wait for /a/b or /c")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not ctx's error", err)
	}
	if got := list(t, tree.name); len(got) != 0 {
		t.Errorf("it made %q", got)
	}
	if _, err := tree.WaitForFiles(t.Context(), "relative"); err == nil {
		t.Error("a relative path is waited for")
	}
}
