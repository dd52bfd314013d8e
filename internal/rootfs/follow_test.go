package rootfs

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// Every way of changing a file's content leads to a call.
func TestFollowFiles(t *testing.T) {
	const (
		dir  = "/etc/slipway"
		path = dir + "/config.yaml"
	)
	for name, steps := range map[string]struct {
		before []treeStep
		change treeStep
	}{
		"written in place":     {[]treeStep{mkdirs(dir), touch(path)}, overwriting(path)},
		"replaced by a rename": {[]treeStep{mkdirs(dir), touch(path), touch("/new")}, move("/new", path)},
		"removed":              {[]treeStep{mkdirs(dir), touch(path)}, remove(path)},
		"moved away":           {[]treeStep{mkdirs(dir), touch(path)}, move(path, "/old")},
		"made":                 {[]treeStep{mkdirs(dir)}, overwriting(path)},
		"made with parents":    {nil, mkdirs(dir)},
		"parent moved away":    {[]treeStep{mkdirs(dir), touch(path)}, move("/etc", "/old")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, at := newTree(t)
			for _, step := range steps.before {
				must(t, step(at))
			}
			ctx, cancel := context.WithCancel(t.Context())
			changes, done := make(chan struct{}, 100), make(chan error, 1)
			go func() {
				done <- tree.FollowFiles(ctx, func() { changes <- struct{}{} }, path, dir+"/config.json")
			}()
			<-changes // the first call: from then on every change is reported
			must(t, steps.change(at))
			select {
			case <-changes:
			case err := <-done:
				t.Fatal(err)
			case <-time.After(5 * time.Second):
				t.Error("the change is not told")
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func overwriting(path string) treeStep {
	return func(at func(string) string) error { return os.WriteFile(at(path), []byte("new"), 0o600) }
}

func TestFollowFilesRefuses(t *testing.T) {
	tree, _ := newTree(t)
	if err := tree.FollowFiles(t.Context(), func() {}, "relative"); err == nil {
		t.Error("a relative path is followed")
	}
}
