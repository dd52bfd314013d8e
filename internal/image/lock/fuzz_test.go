package lock_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/lock"
)

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const written = `apiVersion: slipway.dev/v1
kind: ImageLock
base: {suite: trixie, snapshot: 20261101T000000Z}
components:
- name: runc
  kind: runc
  version: 1.4.0
  wanted: ~1.4
  license: Apache-2.0
  artifacts:
  - {architecture: amd64, sources: [./runc], sha256: "` + sum + `", size: 5, files: [{path: /usr/sbin/runc, mode: "0755", sha256: "` + sum + `", size: 5}]}
- name: pause
  kind: image
  version: "3.10"
  image: {references: ["registry.example/pause:3.10"], digest: "sha256:` + sum + `"}
  artifacts: [{architecture: arm64, sha256: "` + sum + `", size: 7}]
`

// A lock that is valid is written in one form, which is read as the same lock.
func FuzzParse(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte(strings.ReplaceAll(written, "/usr/sbin/runc", "/etc/../x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, problems := lock.Parse(data)
		if len(problems) > 0 {
			return
		}
		first := l.Encode()
		again, problems := lock.Parse(first)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", first, problems)
		}
		if second := again.Encode(); !bytes.Equal(first, second) {
			t.Errorf("%s\n%s", first, second)
		}
		for _, c := range l.Components {
			for _, a := range c.Artifacts {
				for _, file := range a.Files {
					if strings.Contains(file.Path, "..") && strings.Contains(file.Path, "/../") || strings.HasPrefix(file.Path, "/run/") {
						t.Errorf("a file at %q", file.Path)
					}
				}
			}
		}
	})
}

func TestFuzzSeedIsALock(t *testing.T) {
	if _, problems := lock.Parse([]byte(written)); len(problems) > 0 {
		t.Error(problems)
	}
}
