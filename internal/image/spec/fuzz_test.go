package spec_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../examples/image/trixie/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"apiVersion":"slipway.dev/v1","kind":"ImageComponents","components":[{"name":"a","kind":"file","version":"~1","sources":["./a-{version}{version}"],"files":[{"path":"/etc/{name}"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, problems := spec.Parse(data)
		for _, p := range problems {
			if !p.Fatal || p.Path == "" || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, w := range d.Wholes() {
			if w.Row == nil || len(w.Architectures) == 0 || len(lock.EntryOf(&w)) == 0 {
				t.Errorf("%+v", w)
			}
		}
	})
}

// A text that is made from a template has the version that it was made with, and nothing of a list leads out of a path.
func FuzzMatcher(f *testing.F) {
	f.Add("./kubelet-v{version}-{arch}", "1.36.4")
	f.Add("./{version}/a-{version}.tgz", "1.36.4-0ubuntu1~24.04")
	f.Fuzz(func(t *testing.T, template, version string) {
		values := spec.Values{Name: "name", Arch: "amd64"}
		match := values.Matcher(template)
		if got, ok := match(version); ok && (strings.Contains(got, "/") || strings.Contains(got, "..")) {
			t.Errorf("%q is a version of %q", got, template)
		}
		values.Version = version
		if strings.Count(template, "{version}") != 1 || !spec.IsVersion(version) {
			return
		}
		if got, ok := match(values.Expand(template)); ok {
			again := values
			again.Version = got
			if again.Expand(template) != values.Expand(template) {
				t.Errorf("%q of %q is %q", version, template, got)
			}
		}
	})
}
