package state_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/state"
)

// A file can be read up to its limit, and one byte more is not written: the file stays unchanged.
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	dir, err := host.OpenDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	seen := make(map[string]bool)
	for _, f := range state.Files() {
		if seen[f.Path] {
			t.Errorf("%s is in the table twice", f.Path)
		}
		seen[f.Path] = true
		content := bytes.Repeat([]byte("x"), int(f.Limit))
		if err := f.Write(dir, content); err != nil {
			t.Fatal(err)
		}
		err := f.Write(dir, append(content, 'y'))
		if err == nil || !strings.Contains(err.Error(), f.Path) {
			t.Errorf("%s is written with a byte too many: %v", f.Path, err)
		}
		if got, err := f.Read(dir); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s cannot be read back: %d bytes, %v", f.Path, len(got), err)
		}
		if have, err := dir.Stat(f.Path); err != nil || have.Mode != f.Mode {
			t.Errorf("%s is %04o, %v, want %04o", f.Path, have.Mode, err, f.Mode)
		}
		if err := dir.Remove(f.Path); err != nil {
			t.Fatal(err)
		}
	}
}
