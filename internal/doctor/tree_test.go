package doctor_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
)

// tree are a machine's files, by path. A text that begins with "-> " is a symbolic link.
type tree map[string]string

func (f tree) ReadFile(path string, limit int64) ([]byte, error) {
	content, has := f[path]
	if !has {
		return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("read %s: has more than %d bytes", path, limit)
	}
	return []byte(content), nil
}

func (f tree) ReadLinked(name string, limit int64) ([]byte, error) {
	for range 8 {
		target, isLink := strings.CutPrefix(f[name], "-> ")
		if !isLink {
			break
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		name = target
	}
	return f.ReadFile(name, limit)
}

func (f tree) ReadDir(dir string) ([]string, error) {
	names := make(map[string]bool)
	for file := range f {
		if below, is := strings.CutPrefix(file, dir+"/"); is {
			name, _, _ := strings.Cut(below, "/")
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("list %s: %w", dir, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func (f tree) Stat(path string) (apply.Entry, error) {
	content, has := f[path]
	switch {
	case !has:
		if _, err := f.ReadDir(path); err == nil {
			return apply.Entry{Kind: apply.Directory, Mode: 0o755}, nil
		}
		return apply.Entry{}, nil
	case strings.HasPrefix(content, "-> "):
		return apply.Entry{Kind: apply.Symlink, Target: content[3:]}, nil
	}
	return apply.Entry{Kind: apply.RegularFile, Mode: 0o644, Size: int64(len(content))}, nil
}
