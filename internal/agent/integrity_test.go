package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/test/tampering"
)

// The drift of a node shows tampering, but not the files of the image or of the cluster's add-ons.
func TestDriftSeesTampering(t *testing.T) {
	image, cases := tampering.Read(t)
	n := newNode(t)
	image.Apply(t, n.root)
	documents := []compile.Document{{Name: "minimal", Data: example(t, "native/minimal.yaml")}, {Name: "tampering", Data: []byte(tampering.Contract)}}
	n.deliver(nativeContract, compile.NativeOf(compile.Read(documents, "").Config))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	for _, c := range append(cases, tampering.Case{Name: "none", Drift: "quiet"}) {
		t.Run(c.Name, func(t *testing.T) {
			other := newNode(t, tampering.Copy(t, n.root))
			c.Apply(t, other.root)
			changes, err := other.Drift(t.Context())
			at := func(change apply.Change) bool { return strings.HasSuffix(string(change.ID), ":"+c.At) }
			got := "quiet"
			switch {
			case err != nil:
				got = "error"
			case slices.ContainsFunc(changes, at):
				got = "seen"
			case strings.HasPrefix(c.Name, "mask") && len(changes) > 0 && strings.HasPrefix(string(changes[0].ID), "Unit:"):
				got = "seen"
			case len(changes) > 0:
				got = "another change"
			}
			if got != c.Drift {
				t.Errorf("%s, want %s: %v, %v", got, c.Drift, changes, err)
			}
		})
	}
}
