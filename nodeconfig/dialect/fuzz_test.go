package dialect_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

// FuzzDecode: every input, in any dialect, gives a config. Without a fatal problem the config is
// complete and valid. Problems are sorted, one for each path. The canonical form is read like the
// document itself.
func FuzzDecode(f *testing.F) {
	for _, name := range dialect.Names() {
		for _, c := range contracts.Load(f, baseOf(f, name), "testdata/"+name+".yaml") {
			f.Add(c.Document, byte(0))
			f.Add(c.Document, byte(1))
			f.Add(c.Document, byte(2))
			f.Add(c.Document, byte(3))
		}
	}
	for _, name := range []string{"join.txt", "kubeconfig.yaml"} {
		data, err := os.ReadFile("../../examples/kubeadm/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, byte(0))
	}
	names := append([]string{""}, dialect.Names()...)
	f.Fuzz(func(t *testing.T, data []byte, choice byte) {
		got := dialect.Decode(data, names[int(choice)%len(names)])
		checkInvariants(t, got)
		if got.Canonical() == nil || len(got.Canonical()) > 1<<20 {
			return
		}
		again := dialect.Decode(got.Canonical(), got.Dialect)
		if !bytes.Equal(again.Canonical(), got.Canonical()) {
			t.Errorf("the canonical form became\n%s\nwas\n%s", again.Canonical(), got.Canonical())
		}
		if len(got.Problems) > 0 {
			return // of a field that the document has under two names, the first counts
		}
		if a, b := nodeconfig.Digest(again.Config), nodeconfig.Digest(got.Config); a != b || len(again.Problems) > 0 {
			t.Errorf("the canonical form is read as\n%s\n%s\nthe document as\n%s", nodeconfig.Encode(again.Config), contracts.List(again.Problems), nodeconfig.Encode(got.Config))
		}
	})
}
