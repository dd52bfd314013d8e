package compile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// TestUserData: a contract in user data is the contract alone. Only the document of its problems differs.
func TestUserData(t *testing.T) {
	text := read(t, minimal) + "nope: 1\n"
	plain := compile.ReadOne("a", []byte(text))
	contract := userdata.Contract{Document: []byte(text), Path: userdata.NativeYAMLPath}
	for name, wrap := range map[string]func(userdata.Contract) ([]byte, error){"mime": userdata.MIME, "cloud-config": userdata.CloudConfig, "ignition": userdata.Ignition} {
		wrapped, err := wrap(contract)
		if err != nil {
			t.Fatal(err)
		}
		got := compile.ReadOne("a", wrapped)
		if !bytes.Equal(got.Canonical(), plain.Canonical()) || nodeconfig.Digest(got.Config) != nodeconfig.Digest(plain.Config) {
			t.Errorf("%s: got %v, %s", name, got.Problems, got.Canonical())
		}
		if p := got.Problems[0]; !strings.HasPrefix(p.Document, "a (in ") || p.Line != plain.Problems[0].Line {
			t.Errorf("%s: a problem is in %q, line %d", name, p.Document, p.Line)
		}
	}
}

// FuzzRead: every input gives a contract, which is readable or has a fatal problem. No problem repeats the input.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		read(f, minimal), "#cloud-config\nwrite_files:\n- {path: /etc/slipway/config.yaml, content: 'version: v1'}\n", "#!/bin/sh\nkubeadm join `x`\n", "H4sIAAAAAAAAA0vKSUwBAE0/pGwEAAAA",
		"MIME-Version: 1.0\nContent-Type: text/x-slipway-config\n\nversion: v1\n", `{"ignition":{}}`, "<html>", "apiVersion: v1\ndata: {}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := compile.ReadOne("a", data)
		if c.Config == nil || !c.Readable() && len(c.Fatal()) == 0 || (c.Canonical() == nil) == c.Readable() {
			t.Fatalf("readable %v, with %v", c.Readable(), c.Problems)
		}
	})
}
