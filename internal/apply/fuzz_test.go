package apply_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// Whatever the journal holds, the node is not lost: the next apply succeeds, also on a real tree, and leaves no journal
// behind.
func FuzzIntent(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null", "[]", `{"reload":true}`, `{"restarts":["kubelet.service"]}`, `{"restarts":["../x"],"paths":["/"]}`,
		`{"paths":["/etc/one","/etc/link"]}`, `{"paths":["/etc/one/below/a/file"]}`, `{"paths":["/etc/d"]}`, `{"paths":["/proc/1/mem","/dev/sda"]}`,
		`{"paths":["/etc/a\u0000b"]}`, `{"paths":["/etc/` + strings.Repeat("a", 1000) + `"]}`, `{"paths":["/etc/` + strings.Repeat("a/", 5000) + `b"]}`, `{"paths":["relative",""]}`, `{"paths":["/var/lib/slipway/status.json"]}`, `{"reload":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		p := smallPlan("one")
		m := newMemory()
		applied(t, m, p)
		m.files[intentPath] = fileEntry(&resource.File{Mode: 0o600, Content: record})
		if err := try(m, p); err != nil {
			t.Fatalf("in memory: %v", err)
		}
		converged(t, m, p)

		root := hosttest.TempDir(t)
		dir, err := host.OpenDirectory(root)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		applied(t, dir, p)
		if err := os.WriteFile(filepath.Join(root, intentPath), bytes.Clone(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try(dir, p); err != nil {
			t.Fatalf("on a tree: %v", err)
		}
		if entry, err := dir.Stat(intentPath); err != nil || entry.Kind != apply.Absent {
			t.Errorf("the journal is left behind: %v, %v", entry.Kind, err)
		}
	})
}
