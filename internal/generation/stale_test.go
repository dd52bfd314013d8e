package generation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A file from before Slipway returns when nothing replaces it any more: with its content, mode and owner, and links as
// links. New files are removed.
func TestOriginals(t *testing.T) {
	m := newMachine(t)
	m.put("/etc/text", "mine\n", 0o640)
	m.put("/etc/binary", "\x00\xff", 0o755)
	m.put("/etc/empty", "", 0o400)
	m.put("/etc/to-link", "was a file", 0o600)
	if err := os.Symlink("../some where", m.root+"/etc/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/gone", m.root+"/etc/to-file"); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(m.root+"/etc/text", 12, 34); err != nil {
			t.Fatal(err)
		}
	}
	describe := func() string {
		var lines []string
		for _, name := range []string{"text", "binary", "empty", "to-link", "link", "to-file", "new", "new-link"} {
			e, err := m.Stat("/etc/" + name)
			if err != nil {
				t.Fatal(err)
			}
			content := ""
			if e.Kind == "file" {
				content = m.read("/etc/" + name)
			}
			lines = append(lines, fmt.Sprintf("%s %+v %q", name, e, content))
		}
		return strings.Join(lines, "\n")
	}
	before := describe()
	all := wanted("c1", file("/etc/text", "t"), secret("/etc/binary", "b"), file("/etc/empty", "e"), file("/etc/new", "n"),
		link("/etc/link", "x"), link("/etc/to-link", "y"), file("/etc/to-file", "z"), link("/etc/new-link", "w"))
	m.advance(all, generation.Good)
	if describe() == before {
		t.Fatal("nothing has changed")
	}
	// The originals are known after any number of generations.
	for i := range 15 {
		m.advance(wanted("c2", append(all.Resources, file("/etc/other", fmt.Sprint(i)))...), generation.Good)
	}
	m.advance(wanted("c3", file("/etc/kept", "k")), generation.Good)
	equal(t, "what comes back", describe(), before)
	equal(t, "what Slipway brought", m.read("/etc/other"), "absent")
	// The files are the administrator's again: a change of them stays, and is the new original.
	m.put("/etc/text", "changed", 0o600)
	m.advance(wanted("c4", file("/etc/kept", "l")), generation.Good)
	equal(t, "what an administrator changed", m.read("/etc/text"), "changed")
	m.advance(all, generation.Good)
	m.advance(wanted("c3", file("/etc/kept", "k")), generation.Good)
	equal(t, "what an administrator changed", m.read("/etc/text"), "changed")
}

// A file that is too large to be kept is replaced for good, with a warning. All of them together never exceed the limit
// of a record.
func TestLargeOriginals(t *testing.T) {
	m := newMachine(t)
	m.put("/etc/limit", strings.Repeat("x", 1<<20), 0o600)
	m.put("/etc/large", strings.Repeat("x", 1<<20+1), 0o600)
	m.advance(wanted("c1", file("/etc/limit", ""), file("/etc/large", "")), generation.Good)
	m.advance(wanted("c2", file("/etc/kept", "")), generation.Good)
	equal(t, "at the limit", len(m.read("/etc/limit")), 1<<20)
	equal(t, "a byte too large", m.read("/etc/large"), "absent")
	if log := m.log.String(); strings.Count(log, "too large") != 1 || !strings.Contains(log, "/etc/large") {
		t.Errorf("the log says %s", log)
	}
	m = newMachine(t)
	var many []resource.Resource
	for i := range 20 {
		m.put(fmt.Sprintf("/etc/f%02d", i), strings.Repeat("x", 1<<20), 0o600)
		many = append(many, file(fmt.Sprintf("/etc/f%02d", i), ""))
	}
	m.advance(wanted("c1", many...), generation.Good)
	if _, err := m.open().Plan(1); err != nil {
		t.Errorf("the record cannot be read: %v", err)
	}
}

// A file at the path of a credential is not kept: it may be a credential.
func TestCredentialIsNoOriginal(t *testing.T) {
	m := newMachine(t)
	m.put("/etc/boot", "an older credential", 0o600)
	m.advance(wanted("c1", credential("/etc/boot", "token", "/etc/own")), generation.Good)
	if text := m.read(generation.Dir + "/000001.json"); strings.Contains(text, "originals") {
		t.Errorf("the record is %s", text)
	}
	m.advance(wanted("c2", file("/etc/a", "a")), generation.Good)
	equal(t, "the credential", m.read("/etc/boot"), "absent")
}

// The credential of a node that has not joined yet survives a rollback to a generation that also had it, because it
// could not be restored. A rollback to a generation without one removes it.
func TestCredentialAndRollback(t *testing.T) {
	m := newMachine(t)
	without, with := wanted("c0", file("/etc/a", "0")), wanted("c1", file("/etc/a", "1"), credential("/etc/boot", "token", "/etc/own"))
	m.advance(without, generation.Good)
	good := m.advance(with, generation.Good)
	back := func(number int) {
		t.Helper()
		p, err := m.open().Plan(number)
		if err != nil {
			t.Fatal(err)
		}
		m.advanceAs(generation.Entry{Restores: number, Origin: generation.Rollback}, p, generation.Good)
	}
	m.advance(wanted("c2", file("/etc/a", "2"), credential("/etc/boot", "token", "/etc/own")), generation.Failed)
	for range 2 { // and from a rollback to the rollback
		back(good)
		equal(t, "the credential", m.read("/etc/boot"), "token")
		good, _ = len(m.open().Entries()), error(nil)
		m.advance(wanted("c3", file("/etc/a", "3"), credential("/etc/boot", "token", "/etc/own")), generation.Failed)
	}
	back(1)
	equal(t, "the credential", m.read("/etc/boot"), "absent")
}

// Whatever a generation since the last good one created is removed, even if all of them fail, and what it replaced is
// restored.
func TestNothingIsLost(t *testing.T) {
	m := newMachine(t)
	m.put("/etc/original", "mine", 0o644)
	m.advance(wanted("c0", file("/etc/base", "b"), file("/etc/first", "1")), generation.Good)
	for i := range 4 {
		m.advance(wanted(fmt.Sprint(i), file("/etc/base", "b"), file(fmt.Sprintf("/etc/failed-%d", i), "f"), file("/etc/original", fmt.Sprint(i)), link(fmt.Sprintf("/etc/link-%d", i), "l")), generation.Failed)
	}
	// A generation that died counts as failed.
	p := wanted("died", file("/etc/died", "d"), file("/etc/original", "d"))
	m.begin(generation.Entry{}, p)
	m.put("/etc/died", "d", 0o644)
	m.advance(wanted("last", file("/etc/base", "b")), generation.Good)
	names, err := m.ReadDir("/etc")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what is left", strings.Join(names, " "), "base original")
	equal(t, "the original", m.read("/etc/original"), "mine")
}

// What is stale, as the engine gets it: units stop, parameters and modules stay, and a path that the plan has with
// another kind is not removed first.
func TestStale(t *testing.T) {
	m := newMachine(t)
	unit := func(name string) resource.Resource {
		return resource.Resource{Phase: resource.Base, Spec: &resource.Unit{Unit: name}}
	}
	directory := func(path string) resource.Resource {
		return resource.Resource{Phase: resource.Base, Spec: &resource.Directory{Path: path, Mode: 0o755, UID: os.Getuid(), GID: os.Getgid()}}
	}
	m.put("/etc/was", "w", 0o600)
	was := file("/etc/was", "s")
	was.Restarts = []string{"a.service"}
	m.advance(wanted("c1", was, file("/etc/gone", "g"), file("/etc/now-link", "l"), link("/etc/now-file", "f"), directory("/etc/dir"), directory("/etc/kept"),
		unit("a.service"), unit("old.service"), resource.Resource{Spec: &resource.Sysctl{Key: "vm.x", Value: "1"}}, resource.Resource{Spec: &resource.Module{Module: "m"}}), generation.Good)
	p := wanted("c2", link("/etc/now-link", "x"), file("/etc/now-file", "y"), directory("/etc/kept"), unit("a.service"))
	for _, begun := range []bool{false, true} {
		s := m.open()
		if begun {
			s, _ = m.begin(generation.Entry{}, p)
		}
		removed, restored := s.Stale(p)
		equal(t, "removed", ids(removed), "Directory:/etc/dir File:/etc/gone Unit:old.service")
		equal(t, "restored", ids(restored), "File:/etc/was")
		if len(restored) != 1 || len(restored[0].Restarts) != 1 || restored[0].Reason == "" {
			t.Errorf("%+v", restored)
		}
	}
}
