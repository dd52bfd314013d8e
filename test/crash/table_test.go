//go:build failpoint

package crash

import (
	"errors"
	"fmt"
	"io"
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

// table is what was tried: a line for each check that has ended, so that a person can read it while the others run.
type table struct {
	w     io.Writer
	total check
	err   error
}

var results table

// begin writes the head of the table.
func (t *table) begin(w io.Writer) {
	t.w, t.total.name = w, "all"
	t.printf("seed %d\n%-58s %8s %10s %6s %9s\n", *seed, "CHECK", "POINTS", "CONVERGED", "LOST", "SECONDS")
}

// add writes the line of a check.
func (t *table) add(c *check) {
	t.line(c)
	t.total.tried, t.total.converged, t.total.took = t.total.tried+c.tried, t.total.converged+c.converged, t.total.took+c.took
}

// end writes the sums.
func (t *table) end() error {
	t.line(&t.total)
	return t.err
}

func (t *table) line(c *check) {
	t.printf("%-58s %8d %10d %6d %9.1f\n", c.name, c.tried, c.converged, c.tried-c.converged, c.took.Seconds())
}

func (t *table) printf(format string, args ...any) {
	_, err := fmt.Fprintf(t.w, format, args...)
	t.err = errors.Join(t.err, err)
}

// begin begins a check.
func begin(t *testing.T, name string) *check {
	return &check{t: t, name: name, begin: time.Now()}
}

// end ends a check.
func (c *check) end() {
	c.took = time.Since(c.begin)
	results.add(c)
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
