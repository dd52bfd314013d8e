//go:build crosscheck

package crosscheck

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// maxTold is how many disagreements are printed in full.
const maxTold = 5

// tally counts the results of the comparisons.
type tally struct {
	*study
	mu     sync.Mutex
	counts map[string]int
	told   int
}

func (y *tally) add(t *testing.T, number int, c *comparison) {
	outcome := c.agreement()
	if outcome == "" {
		if i := slices.IndexFunc(y.differences, func(d difference) bool { return d.is(c) }); i >= 0 {
			outcome = y.differences[i].name
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if outcome == "" {
		outcome = "DISAGREEMENT"
		if y.told++; y.told <= maxTold {
			t.Errorf("document %d of seed %d: %v", number, *seed, c)
		} else {
			t.Fail()
		}
	}
	y.counts[outcome]++
}

// agreements are the results of agreement.
var agreements = []string{"the same file", "no file", "both refuse", "a file that is no contract"}

func (y *tally) print() {
	for _, name := range agreements {
		fmt.Printf("%7d  %s\n", y.counts[name], name)
	}
	for _, d := range y.differences {
		fmt.Printf("%7d  differs: %s\n", y.counts[d.name], d.name)
	}
	fmt.Printf("%7d  DISAGREEMENT\n", y.counts["DISAGREEMENT"])
}

// checkUsed fails for each row of the table that never applied.
func (y *tally) checkUsed(t *testing.T) {
	for _, d := range y.differences {
		if y.counts[d.name] == 0 {
			t.Errorf("no document differs as the table says: %s", d.name)
		}
	}
}
