// Package boot measures how long a machine takes from its power button to a Ready node, by each of the ways in
// which a contract can come to it: one image, one shape of machine, one contract.
//
// Each way is a case in variants, which does nothing but boot and wait. The runs are interleaved, so that a
// machine that grows slower or faster meanwhile does so for all. The package starts no machine itself:
// scenario's runner does. test/e2e/cmd/e2e calls it.
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
	script = "script"
	floor  = "floor"
)

// Variants are the names of all, in the order in which they are shown.
var Variants = []string{script, "boothook", "azure", "userdata", "ec2", "nocloud", "agentless", floor, "floor-online"}

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
