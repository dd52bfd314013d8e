package apply_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A copy is made if the file is missing, and replaces a copy from another source. A file of another program at that
// path stays: if the copy is planned, if it is planned from another source, and if it is not planned any more.
func TestCopies(t *testing.T) {
	const path = "/opt/cni/bin/plugin"
	from := func(version, other string) resource.Plan {
		return planOf(&resource.Copy{Path: path, Source: downloads + version + "/plugin", Over: []string{downloads + other + "/plugin"}})
	}
	for _, c := range []struct {
		name  string
		there string // the file's content before; empty means no file
		plan  resource.Plan
		stale resource.Plan
		want  string
	}{
		{name: "none", plan: from("1", "2"), want: "1"},
		{name: "this one", there: "1", plan: from("1", "2"), want: "1"},
		{name: "another version", there: "2", plan: from("1", "2"), want: "1"},
		{name: "another program's", there: "theirs", plan: from("1", "2"), want: "theirs"},
		{name: "gone", there: "1", stale: from("1", "2"), want: ""},
		{name: "another program's when the copy is not planned", there: "theirs", stale: from("1", "2"), want: "theirs"},
	} {
		m := newMemory()
		for _, version := range []string{"1", "2"} {
			m.files[downloads+version+"/plugin"] = fileEntry(&resource.File{Mode: 0o755, Content: []byte(version)})
		}
		if c.there != "" {
			m.files[path] = fileEntry(&resource.File{Mode: 0o755, Content: []byte(c.there)})
		}
		e := engine(m)
		e.Stale = c.stale.Resources
		for range 2 {
			if _, err := e.Apply(t.Context(), c.plan); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if got := string(m.files[path].content); got != c.want {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
		if c.there != c.want {
			continue
		}
		for _, call := range m.changed() {
			t.Errorf("%s: %s", c.name, call)
		}
	}
	// A link there is an administrator's intention; a directory there is an error.
	for kind, fails := range map[apply.EntryKind]bool{apply.Symlink: false, apply.Directory: true} {
		m := newMemory()
		m.files[path] = entry{Entry: apply.Entry{Kind: kind}}
		if _, err := engine(m).Apply(t.Context(), from("1", "2")); (err != nil) != fails || m.files[path].Kind != kind {
			t.Errorf("a %s: %v", kind, err)
		}
	}
}
