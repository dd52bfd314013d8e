package source_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/source"
)

// files answers for each path, and records the requested paths.
type files struct {
	content map[string]string
	errs    map[string]error
	asked   []string
}

func (f *files) ReadFile(path string, limit int64) ([]byte, error) {
	f.asked = append(f.asked, path)
	if limit != document.MaxBytes {
		return nil, fmt.Errorf("limit is %d", limit)
	}
	if err := f.errs[path]; err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	content, ok := f.content[path]
	if !ok {
		return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	}
	return []byte(content), nil
}

func TestFile(t *testing.T) {
	first, second, last := source.Paths[0], source.Paths[1], source.Paths[len(source.Paths)-1]
	for _, c := range []struct {
		name, path string
		content    map[string]string
		errs       map[string]error
		want       string // the path of the contract
		asked      []string
		err        error
	}{
		{name: "first place", content: map[string]string{first: "a", second: "b", last: "c"}, want: first, asked: []string{first}},
		{name: "second place", content: map[string]string{second: "b", last: "c"}, want: second, asked: []string{first, second}},
		{name: "last place", content: map[string]string{last: "c"}, want: last, asked: source.Paths},
		{name: "nowhere", asked: source.Paths, err: source.ErrNotFound},
		{name: "an empty one is one", content: map[string]string{first: ""}, want: first, asked: []string{first}},
		{name: "unreadable", content: map[string]string{second: "b"}, errs: map[string]error{first: syscall.EACCES}, want: first, asked: []string{first}, err: syscall.EACCES},
		{name: "a broken disk", errs: map[string]error{second: syscall.EIO}, want: second, asked: []string{first, second}, err: syscall.EIO},
		{name: "named", path: "/n", content: map[string]string{"/n": "n", first: "a"}, want: "/n", asked: []string{"/n"}},
		{name: "named and missing", path: "/n", content: map[string]string{first: "a"}, want: "/n", asked: []string{"/n"}, err: source.ErrNotFound},
		{name: "named and unreadable", path: "/n", errs: map[string]error{"/n": syscall.EROFS}, want: "/n", asked: []string{"/n"}, err: syscall.EROFS},
	} {
		f := &files{content: c.content, errs: c.errs}
		got, err := source.File(f, c.path)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got.Path != c.want || err == nil && string(got.Data) != c.content[c.want] || err != nil && got.Data != nil {
			t.Errorf("%s: got %q of %s", c.name, got.Data, got.Path)
		}
		if !slices.Equal(f.asked, c.asked) {
			t.Errorf("%s: asked for %q", c.name, f.asked)
		}
	}
}

// If no place has a contract, the error lists the paths that were tried, and what to do.
func TestErrorsSayWhere(t *testing.T) {
	_, err := source.File(&files{}, "")
	for _, part := range append(slices.Clone(source.Paths), "--provision-config", "deliver") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	_, err = source.File(&files{errs: map[string]error{"/n": syscall.EISDIR}}, "/n")
	if !strings.Contains(err.Error(), "contract") || !strings.Contains(err.Error(), "/n") {
		t.Error(err)
	}
}
