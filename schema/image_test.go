package schema_test

import (
	"os"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/schema"
)

const imageHead = "apiVersion: slipway.dev/v1\nkind: ImageComponents\ncomponents:\n- "

// The schema of components.yaml accepts the types that its reader accepts.
func TestImageComponentsFollowTheirSchema(t *testing.T) {
	s := compiled(t, schema.ImageComponents)
	example, err := os.ReadFile("../examples/image/trixie/components.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		string(example): true,
		imageHead + "{name: a, kind: file, version: '1', license: MIT, sources: [./a], files: [{path: /etc/a}]}":          true,
		imageHead + "{name: a, kind: fil, version: '1', license: MIT, sources: [./a], files: [{path: /etc/a}]}":           false,
		imageHead + "{name: a, kind: file, version: 1, license: MIT, sources: [./a], files: [{path: /etc/a}]}":            false,
		imageHead + "{name: a, kind: file, version: '1', license: MIT, sources: ./a, files: [{path: /etc/a}]}":            false,
		imageHead + "{name: a, kind: file, version: '1', license: MIT, source: [./a], files: [{path: /etc/a}]}":           false,
		imageHead + "{name: runc, version: '1', architectures: [amd65], sources: [./a]}":                                  false,
		imageHead + "{name: runc, version: '1', sources: [./a], sha256: {amd64: '" + digest + "'}}":                       true,
		imageHead + "{name: runc, version: '1', sources: [./a], files: [{member: runc, path: /usr/bin/runc, mode: 755}]}": false,
	} {
		_, problems := spec.Parse([]byte(text))
		if err := validate(t, s, text); (err == nil) != valid || (len(problems) == 0) != valid {
			t.Errorf("%s: valid: %t, want %t: %v, %v", text, err == nil, valid, err, problems)
		}
	}
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A lock that the program writes follows the lock's schema.
func TestImageLockFollowsItsSchema(t *testing.T) {
	l := lock.Lock{APIVersion: lock.APIVersion, Kind: lock.Kind, Base: &spec.Base{Suite: "trixie", Snapshot: "20261101T000000Z"}, Components: []lock.Component{
		{Name: "runc", Kind: "runc", Version: "1.4.0", Wanted: "~1.4", License: "Apache-2.0", Kubernetes: []string{"1.36"}, Entry: "00", Artifacts: []lock.Artifact{{
			Architecture: "amd64", Sources: []string{"./runc"}, SHA256: digest, Size: 1,
			Files: []lock.File{{Member: "runc", Path: "/usr/sbin/runc", Mode: "0755", SHA256: digest, Size: 1}},
		}}},
		{Name: "pause", Kind: "image", Version: "3", Wanted: "3", License: "MIT", Entry: "00", Image: &lock.Image{References: []string{"a/b:3"}, Digest: "sha256:" + digest},
			Artifacts: []lock.Artifact{{Architecture: "arm64", SHA256: digest, Size: 1}}},
	}}
	text := string(l.Encode())
	if err := validate(t, compiled(t, schema.ImageLock), text); err != nil {
		t.Error(err)
	}
	if _, problems := lock.Parse([]byte(text)); len(problems) > 0 {
		t.Error(problems)
	}
}
