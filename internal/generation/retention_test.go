package generation_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
)

// numbers returns the kept generations, and requires that their files and no others exist.
func (m *machine) numbers() string {
	m.t.Helper()
	entries := m.open().Entries()
	var want, spans []string
	for i := 0; i < len(entries); {
		first := i
		for i++; i < len(entries) && entries[i].Number == entries[i-1].Number+1; i++ {
		}
		spans = append(spans, fmt.Sprintf("%d to %d", entries[first].Number, entries[i-1].Number))
	}
	for _, e := range entries {
		want = append(want, fmt.Sprintf("%06d.json", e.Number))
	}
	equal(m.t, "files", m.names(), strings.Join(append(want, "index.json"), " "))
	return strings.Join(spans, ", ")
}

// Ten generations are kept.
func TestKeptByCount(t *testing.T) {
	m := newMachine(t)
	for i := range 14 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
		equal(t, "kept", m.numbers(), fmt.Sprintf("%d to %d", max(1, i-8), i+1))
	}
}

// The last good generation is kept, and the newest of the failed ones after it. The next good one removes the resources
// of the others, as if they were kept, and restores what they had replaced.
func TestLastGoodIsKept(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c", file("/etc/a", "old")), generation.Good)
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	m.put("/etc/mine", "mine", 0o640)
	m.put("/etc/mine-too", "mine", 0o640)
	for i := range 30 {
		// Units that only the first generation had are known just as long.
		res := []resource.Resource{file("/etc/a", fmt.Sprint(i)), link(fmt.Sprint("/etc/failed-", i), "x")}
		if i == 0 {
			res = append(res, file("/etc/mine", "other"), resource.Resource{Phase: resource.Base, Spec: &resource.Unit{Unit: "first.service"}})
		}
		m.died(wanted("c", append(res, file("/etc/mine-too", "other"))...))
	}
	equal(t, "kept", m.numbers(), "1 to 2, 28 to 32")
	if p, err := m.open().Plan(2); err != nil || len(p.Resources) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	removed, restored := m.open().Stale(wanted("c", file("/etc/a", "good again")))
	if len(removed) != 31 || len(restored) != 2 || !strings.Contains(ids(removed), "Unit:first.service") {
		t.Errorf("stale are %d, %s; %d, %s", len(removed), ids(removed), len(restored), ids(restored))
	}
	m.advance(wanted("c", file("/etc/a", "good again")), generation.Good)
	equal(t, "kept", m.numbers(), "1 to 2, 29 to 33")
	names, _ := m.ReadDir("/etc")
	equal(t, "what the failed ones brought", strings.Join(names, " "), "a mine mine-too")
	equal(t, "what was there before", m.read("/etc/mine")+m.read("/etc/mine-too"), "minemine")
}

// died applies a plan in a process that removes nothing and dies before it records the outcome.
func (m *machine) died(p resource.Plan) {
	m.t.Helper()
	m.begin(generation.Entry{}, p)
	for _, res := range p.Resources {
		var err error
		switch spec := res.Spec.(type) {
		case *resource.File:
			err = m.Directory.WriteFileAtomic(spec)
		case *resource.Symlink:
			err = m.MakeSymlink(spec)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// A generation costs the same however many have failed, with reasons of any length, and the index is readable and has
// the last good one.
func TestManyFailures(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("good", file("/etc/a", "good")), generation.Good)
	reads := 0
	m.before = func(op, _ string) error {
		if op == "ReadFile" {
			reads++
		}
		return nil
	}
	most := 0
	for i := range 60 {
		reads = 0
		s, _ := m.begin(generation.Entry{}, wanted("c", file("/etc/a", fmt.Sprint(i))))
		if err := s.Finish(generation.Failed, strings.Repeat("\x01", 1<<20), clock); err != nil {
			t.Fatal(err)
		}
		most = max(most, reads)
	}
	if most > 20 {
		t.Errorf("%d files are read for one generation", most)
	}
	equal(t, "kept", m.numbers(), "1 to 1, 57 to 61")
	if good, found := m.open().LastGood(); !found || good.Number != 1 {
		t.Errorf("the last good is %+v, %t", good, found)
	}
	if p, err := m.open().Plan(1); err != nil || len(p.Resources) != 1 {
		t.Errorf("%v, %v", p, err)
	}
}

// The records remember what failed generations left only while it exists, so they do not grow.
func TestLeftDoesNotGrow(t *testing.T) {
	m := newMachine(t)
	m.put("/etc/original", "mine", 0o644)
	m.advance(wanted("good", file("/etc/a", "good")), generation.Good)
	for i := range 15 {
		m.advance(wanted("c", file(fmt.Sprint("/etc/failed-", i), ""), file("/etc/original", "x")), generation.Failed)
		m.advance(wanted("c", file(fmt.Sprint("/etc/other-", i), "")), generation.Failed)
	}
	size := func(number int) int { return len(m.read(fmt.Sprintf("%s/%06d.json", generation.Dir, number))) }
	if last := size(31); last > 2000 {
		t.Errorf("the last record has %d bytes", last)
	}
	equal(t, "what was there before", m.read("/etc/original"), "mine")
}

// While a generation waits for confirmation, the one to roll back to is kept.
func TestUnconfirmedKeepsTheGood(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	for i := range 12 {
		m.advanceAs(generation.Entry{ConfirmBy: clock}, wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
	}
	equal(t, "kept", m.numbers(), "1 to 1, 9 to 13")
}

// Large generations are kept up to 32 MiB in total.
func TestKeptByBytes(t *testing.T) {
	m := newMachine(t)
	m.size = 9 << 20
	for i := range 6 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
	}
	equal(t, "kept", m.numbers(), "4 to 6")
	// If the good one is too large together with those after it, it is still kept.
	m.size = 15 << 20
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	for i := range 2 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint("failed", i))), generation.Failed)
	}
	equal(t, "kept", m.numbers(), "7 to 9")
}

// If a success cannot be recorded, the generation failed: the failure is recorded, and the rollback is still possible.
func TestSuccessThatCannotBeRecorded(t *testing.T) {
	m := newMachine(t)
	m.size = 20 << 20 // only the current one and the last good one fit
	m.advance(wanted("c", file("/etc/a", "1")), generation.Good)
	s, _ := m.begin(generation.Entry{}, wanted("c", file("/etc/a", "2")))
	m.before = func(op, _ string) error {
		if op == "WriteFileAtomic" {
			return syscall.ENOSPC
		}
		return nil
	}
	if err := s.Finish(generation.Good, "", clock); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("it is recorded: %v", err)
	}
	m.before = func(string, string) error { return nil }
	if err := s.Finish(generation.Failed, "", clock); err != nil {
		t.Fatal(err)
	}
	if good, found := s.LastGood(); !found || good.Number != 1 {
		t.Errorf("the way back is to %+v, %t", good, found)
	}
	equal(t, "generations", m.list(), "1 good, 2 failed")
	if p, err := m.open().Plan(1); err != nil || len(p.Resources) != 1 {
		t.Errorf("%v, %v", p, err)
	}
}

// Files that cannot be removed are tried again, and so are files of a run that died.
func TestCannotBeRemoved(t *testing.T) {
	m := newMachine(t)
	m.before = func(op, name string) error {
		if op == "Remove" && strings.HasPrefix(name, generation.Dir) {
			return syscall.EIO
		}
		return nil
	}
	for i := range 12 {
		m.advance(wanted("c", link("/etc/a", fmt.Sprint(i))), generation.Good)
	}
	if _, err := os.Stat(m.root + generation.Dir + "/000001.json"); err != nil || !strings.Contains(m.log.String(), "cannot be removed") {
		t.Errorf("%v; the log says %s", err, m.log.String())
	}
	m.before = func(string, string) error { return nil }
	m.advance(wanted("c", link("/etc/a", "last")), generation.Good)
	equal(t, "kept", m.numbers(), "4 to 13")
}

// The reason of a failure is limited, and valid text, however long it is: the index is read completely each time.
func TestLongReasons(t *testing.T) {
	m := newMachine(t)
	for i := range 20 {
		s, _ := m.begin(generation.Entry{}, wanted("c", link("/etc/a", fmt.Sprint(i))))
		if err := s.Finish(generation.Failed, strings.Repeat("é\xff", 1<<20), clock); err != nil {
			t.Fatal(err)
		}
	}
	if entries := m.open().Entries(); len(entries) != 5 || len(entries[4].Reason) > 2000 || !strings.HasPrefix(entries[4].Reason, "éé") {
		t.Errorf("%d, %.80q", len(entries), entries[len(entries)-1].Reason)
	}
}

// BenchmarkGeneration begins and ends a generation after many that failed.
func BenchmarkGeneration(b *testing.B) {
	for _, failures := range []int{0, 100} {
		b.Run(fmt.Sprint(failures, "-failures"), func(b *testing.B) {
			m := newMachine(b)
			m.advance(wanted("good", file("/etc/a", "good")), generation.Good)
			for i := range failures {
				m.advance(wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Failed)
			}
			for i := 0; b.Loop(); i++ {
				p := wanted("c", file("/etc/a", fmt.Sprint("loop ", i)))
				s, _ := m.begin(generation.Entry{}, p)
				s.Stale(p)
				if err := s.Finish(generation.Failed, "", clock); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
