//go:build failpoint

package crash

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxTold is how many failures of a check are printed in full.
const maxTold = 5

// check is one line of the table.
type check struct {
	t         *testing.T
	name      string
	begin     time.Time
	mu        sync.Mutex
	tried     int
	converged int
	took      time.Duration
}

// table is what was tried.
type table struct {
	mu     sync.Mutex
	checks []*check
}

var results table

// begin begins a check.
func begin(t *testing.T, name string) *check {
	c := &check{t: t, name: name, begin: time.Now()}
	results.mu.Lock()
	results.checks = append(results.checks, c)
	results.mu.Unlock()
	return c
}

// end ends a check.
func (c *check) end() {
	c.took = time.Since(c.begin)
	c.t.Logf("%s: %d points, %d converged, %d lost, %.1f s", c.name, c.tried, c.converged, c.tried-c.converged, c.took.Seconds())
}

// point counts a tried point, and fails the test if it did not converge.
func (c *check) point(label string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried++
	if err == nil {
		c.converged++
		return
	}
	if c.tried-c.converged <= maxTold {
		c.t.Errorf("%s: %s: %v", c.name, label, err)
	} else {
		c.t.Fail()
	}
}

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n%-58s %8s %10s %6s %9s\n", *seed, "CHECK", "POINTS", "CONVERGED", "LOST", "SECONDS")
	var total check
	line := func(c *check) {
		fmt.Fprintf(&b, "%-58s %8d %10d %6d %9.1f\n", c.name, c.tried, c.converged, c.tried-c.converged, c.took.Seconds())
	}
	for _, c := range t.checks {
		line(c)
		total.tried, total.converged, total.took = total.tried+c.tried, total.converged+c.converged, total.took+c.took
	}
	total.name = "all"
	line(&total)
	return b.String()
}
