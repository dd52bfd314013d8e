package generation_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/generation"
)

// numbers are the first and the last generation that is kept; their files are there and no others.
func (m *machine) numbers() string {
	m.t.Helper()
	entries := m.open().Entries()
	var want []string
	for _, e := range entries {
		want = append(want, fmt.Sprintf("%06d.json", e.Number))
	}
	equal(m.t, "files", m.names(), strings.Join(append(want, "index.json"), " "))
	return fmt.Sprintf("%d to %d", entries[0].Number, entries[len(entries)-1].Number)
}

// Ten generations are kept.
func TestKeptByCount(t *testing.T) {
	m := newMachine(t)
	for i := range 14 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
		equal(t, "kept", m.numbers(), fmt.Sprintf("%d to %d", max(1, i-8), i+1))
	}
}

// The last good generation is kept, and all after it, however many fail.
func TestLastGoodIsKept(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c", file("/etc/a", "old")), generation.Good)
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	for i := range 14 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint(i)), file(fmt.Sprint("/etc/failed-", i), "")), generation.Failed)
	}
	equal(t, "kept", m.numbers(), "2 to 16")
	if p, err := m.open().Plan(2); err != nil || len(p.Resources) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	m.advance(wanted("c", file("/etc/a", "good again")), generation.Good)
	equal(t, "kept", m.numbers(), "8 to 17")
	names, _ := m.ReadDir("/etc")
	equal(t, "what the failed ones brought", strings.Join(names, " "), "a")
}

// What was brought before any generation was good is not forgotten either.
func TestNeverGood(t *testing.T) {
	m := newMachine(t)
	for i := range 14 {
		m.advance(wanted("c", file(fmt.Sprint("/etc/failed-", i), "")), generation.Failed)
	}
	m.advance(wanted("c", file("/etc/a", "")), generation.Good)
	names, _ := m.ReadDir("/etc")
	equal(t, "what the failed ones brought", strings.Join(names, " "), "a")
	equal(t, "kept", m.numbers(), "6 to 15")
}

// One that nobody has confirmed does not let go of the one to go back to.
func TestUnconfirmedKeepsTheGood(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	for i := range 12 {
		m.advanceAs(generation.Entry{ConfirmBy: clock}, wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
	}
	equal(t, "kept", m.numbers(), "1 to 13")
}

// Large generations are kept for less long: 32 MiB of them.
func TestKeptByBytes(t *testing.T) {
	m := newMachine(t)
	m.size = 9 << 20
	for i := range 6 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint(i))), generation.Good)
	}
	equal(t, "kept", m.numbers(), "4 to 6")
	// Were the good one too large with those after it, it stays.
	m.size = 15 << 20
	m.advance(wanted("c", file("/etc/a", "good")), generation.Good)
	for i := range 2 {
		m.advance(wanted("c", file("/etc/a", fmt.Sprint("failed", i))), generation.Failed)
	}
	equal(t, "kept", m.numbers(), "7 to 9")
}

// What cannot be removed is tried again, and so is what a run that died has left.
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

// What is said of a failure is bounded, and text, however long it is: the index is read whole each time.
func TestLongReasons(t *testing.T) {
	m := newMachine(t)
	for i := range 20 {
		s, _ := m.begin(generation.Entry{}, wanted("c", link("/etc/a", fmt.Sprint(i))))
		if err := s.Finish(generation.Failed, strings.Repeat("é\xff", 1<<20), clock); err != nil {
			t.Fatal(err)
		}
	}
	if entries := m.open().Entries(); len(entries) != 20 || len(entries[19].Reason) > 2000 || !strings.HasPrefix(entries[19].Reason, "éé") {
		t.Errorf("%d, %.80q", len(entries), entries[len(entries)-1].Reason)
	}
}
