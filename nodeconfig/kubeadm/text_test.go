package kubeadm_test

import (
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

// TestReadsWhatKubeadmPrints: each text has the problems in its case, each at its position in the text, and gives the config.
func TestReadsWhatKubeadmPrints(t *testing.T) {
	for _, c := range contracts.Load(t, "", "testdata/text.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			got := dialect.Decode(c.Document, "")
			contracts.Compare(t, got.Problems, c.Want)
			if len(nodeconfig.Fatal(got.Problems)) == 0 {
				c.CompareConfig(t, got.Config)
			}
			again := dialect.Decode(got.Canonical(), "")
			if got.Canonical() != nil && nodeconfig.Digest(again.Config) != nodeconfig.Digest(got.Config) {
				t.Errorf("the canonical form makes %s", nodeconfig.Encode(again.Config))
			}
		})
	}
}
