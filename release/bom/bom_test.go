package bom_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/release/bom"
	"github.com/slipway-dev/slipway/release/licence"
	"github.com/slipway-dev/slipway/release/product"
)

var update = flag.Bool("update", false, "write the golden files")

// TestBills compares both forms with what they were. "make release-check" validates those of a release against CycloneDX's schema.
func TestBills(t *testing.T) {
	s := &bom.Subject{
		Program: product.Programs[0], Platform: product.Linux[1], Version: "v0.1.0", Time: time.Date(2026, 11, 28, 21, 0, 0, 0, time.UTC),
		SHA256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
		Modules: []licence.Module{
			{Path: "go.yaml.in/yaml/v3", Version: "v3.0.6", Sum: "h1:abc=", Licenses: []string{"Apache-2.0", "MIT"}},
			{Path: "std", Version: "1.26.8", Licenses: []string{"BSD-3-Clause"}},
		},
	}
	for name, write := range map[string]func(*bom.Subject) ([]byte, error){"spdx.json": bom.SPDX, "cdx.json": bom.CycloneDX} {
		got, err := write(s)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile("testdata/"+name, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/" + name)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: got\n%s\n(%v)", name, got, err)
		}
	}
}
