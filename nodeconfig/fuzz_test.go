package nodeconfig_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// FuzzDecode: every input gives a config; Default is idempotent; Repair changes nothing in a config
// that it has repaired, and then reports only fatal problems; and the canonical form is a document
// with the same meaning.
func FuzzDecode(f *testing.F) {
	for _, pattern := range []string{"../examples/native/*", "testdata/validate/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal("no seeds in", pattern, err)
		}
		for _, file := range files {
			if filepath.Dir(file) == "testdata/validate" {
				for _, c := range contracts.Load(f, minimal, file) {
					f.Add(c.Document)
				}
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add(nodeconfig.Encode(fullConfig()))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, problems := decode(data)
		if len(problems) > 0 && problems[0].Path == "$" {
			return
		}
		nodeconfig.Default(config)
		checkDefaultTwice(t, config)

		nodeconfig.Repair(config)
		form := nodeconfig.Encode(config)
		left := nodeconfig.Repair(config)
		if len(left) != len(nodeconfig.Fatal(left)) {
			t.Fatalf("left after a repair:\n%s", contracts.List(left))
		}
		if after := nodeconfig.Encode(config); !bytes.Equal(after, form) {
			t.Fatalf("a second repair changed\n%s\nto\n%s", form, after)
		}

		if len(form) > 1<<20 {
			return
		}
		again, problems := decode(form)
		if len(problems) > 0 {
			t.Fatalf("%s\n%s", form, contracts.List(problems))
		}
		if got := nodeconfig.Encode(again); !bytes.Equal(got, form) {
			t.Fatalf("got\n%s\nwant\n%s", got, form)
		}
	})
}
