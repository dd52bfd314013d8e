// Package boot measures how long a machine takes from its power button to a Ready node, for each way to deliver a contract: with
// one image, one shape of machine and one contract.
//
// Each way is a case in variants, which only boots and waits. The runs are interleaved, so that a change of the test machine's
// speed affects all. The package starts no machine itself: scenario's runner does. test/e2e/cmd/e2e calls it.
package boot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// The variants that others are compared with.
const (
	script   = "script"
	userdata = "userdata"
	stock    = "stock"
	floor    = "floor"
)

// Variants are the names of all variants, in the order of the tables.
var Variants = []string{script, "boothook", "azure", userdata, "ec2", "nocloud", "image-azure", "image-nocloud", stock, "agentless", floor, "floor-online"}

// Load reads the named variants, or all, from the repository.
func Load(repo string, names ...string) ([]scenario.Case, error) {
	if len(names) == 0 {
		names = Variants
	}
	for _, name := range names {
		if !slices.Contains(Variants, name) {
			return nil, fmt.Errorf("there is no variant %q: want some of %s", name, strings.Join(Variants, ","))
		}
	}
	return scenario.Load(filepath.Join(repo, "test", "e2e", "boot", "variants"), names...)
}
