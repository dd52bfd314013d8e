package parts

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// A part is built once for its inputs, and replaces one with other inputs. A part whose build failed does not count, in either kind
// of directory.
func TestPart(t *testing.T) {
	for _, last := range []string{"", "last"} {
		s := &Store{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
		made, failing := 0, false
		part := func(input string) (string, error) {
			return s.part(t.Context(), recipe{name: "x", inputs: []string{input}, last: last, make: func(_ context.Context, dir string) error {
				made++
				if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
					t.Errorf("it is made in a directory with %v, %v", entries, err)
				}
				if err := os.WriteFile(filepath.Join(dir, "first"), nil, 0o600); err != nil || failing {
					return errors.Join(err, errors.New("cannot be made"))
				}
				return os.WriteFile(filepath.Join(dir, "last"), []byte(dir), 0o600)
			}})
		}
		want := func(input string, makes int) string {
			t.Helper()
			before := made
			dir, err := part(input)
			if err != nil || made-before != makes {
				t.Fatalf("last %q, input %s: made %d times, %v", last, input, made-before, err)
			}
			content, err := os.ReadFile(filepath.Join(dir, "last"))
			if err != nil || (string(content) == dir) != (last != "") {
				t.Errorf("last %q: %s was made in %s, %v", last, dir, content, err)
			}
			return dir
		}
		first := want("a", 1)
		want("a", 0)
		other := filepath.Join(s.Dir, "x-y-0123456789abcdef")
		if err := os.Mkdir(other, 0o755); err != nil {
			t.Fatal(err)
		}
		second := want("b", 1)
		if _, err := os.Stat(first); err == nil || first == second {
			t.Errorf("last %q: %s is kept", last, first)
		}
		if _, err := os.Stat(other); err != nil {
			t.Errorf("last %q: a part of another name is removed", last)
		}
		failing = true
		if _, err := part("c"); err == nil {
			t.Errorf("last %q: a part that cannot be made is there", last)
		}
		failing = false
		want("c", 1)
	}
}
