package generation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
)

// damages are the ways in which a file can be damaged.
var damages = map[string]func(content string) string{
	"empty":        func(string) string { return "" },
	"zeros":        func(c string) string { return strings.Repeat("\x00", len(c)) },
	"truncated":    func(c string) string { return c[:len(c)/2] },
	"twice":        func(c string) string { return c + c },
	"null":         func(string) string { return "null" },
	"a list":       func(string) string { return "[]" },
	"binary":       func(string) string { return "\x7fELF\xff" },
	"of a version": func(c string) string { return strings.Replace(c, "slipway.dev/v1", "slipway.dev/v9", 1) },
	"of a kind":    func(c string) string { return strings.Replace(c, `"kind":"Generation`, `"kind":"X`, 1) },
	"too large":    func(c string) string { return c + strings.Repeat(" ", 33<<20) },
	"deep":         func(string) string { return strings.Repeat(`{"resources":`, 20000) },
	"a number":     func(c string) string { return strings.Replace(c, `"number":`, `"number":-`, 1) },
}

// three is a machine with three generations, of which the second failed.
func three(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.put("/etc/original", "mine", 0o644)
	m.advanceAs(generation.Entry{Origin: generation.Provision}, wanted("c1", file("/etc/a", "1"), file("/etc/original", "o"), secret("/etc/s", "s")), generation.Good)
	m.advance(wanted("c2", file("/etc/a", "2")), generation.Failed)
	m.advance(wanted("c3", file("/etc/a", "3"), file("/etc/b", "b")), generation.Good)
	return m
}

// A damaged or lost index is rebuilt from the generations. Their outcomes are unknown then, except the good one that
// the newest names: the node keeps running and can roll back. The damaged file is kept for inspection.
func TestDamagedIndex(t *testing.T) {
	const index = generation.Dir + "/index.json"
	damages := map[string]func(string) string{
		"out of order": func(c string) string {
			return strings.NewReplacer(`"number":1,`, `"number":3,`, `"number":3,`, `"number":1,`).Replace(c)
		},
		"a number twice": func(c string) string { return strings.Replace(c, `"number":2,`, `"number":1,`, 1) },
		"lost":           nil,
	}
	for name, damage := range allDamages(damages) {
		m := three(t)
		m.put(generation.Dir+"/notes.txt", "an administrator's", 0o644)
		m.put(generation.Dir+"/7.json", "no generation's", 0o644)
		whole := m.read(index)
		if damage == nil {
			if err := os.Remove(m.root + index); err != nil {
				t.Fatal(err)
			}
		} else {
			m.put(index, damage(whole), 0o600)
		}
		equal(t, name, m.list(), "1 good, 2 unknown, 3 unknown")
		if e, _ := m.open().Current(); e.Provisioned != "c1" || e.Origin != generation.Apply {
			t.Errorf("%s: %+v", name, e)
		}
		if damage != nil {
			equal(t, name+": before anything is written", m.read(index), damage(whole))
		}
		// If the same plan is applied again, it is the same generation, and good again.
		equal(t, name, m.advance(wanted("c3", file("/etc/a", "3"), file("/etc/b", "b")), generation.Good), 3)
		equal(t, name, m.list(), "1 good, 2 unknown, 3 good")
		if damage != nil {
			equal(t, name+": what is set aside", m.read(index+".damaged"), damage(whole))
		}
		equal(t, name, m.advance(wanted("c4", file("/etc/a", "4")), generation.Good), 4)
		equal(t, name+": what is stale", m.read("/etc/b"), "absent")
		equal(t, name, m.read(generation.Dir+"/notes.txt"), "an administrator's")
	}
}

// The confirmation deadline of a generation is also known without the index: a confirmed one stays confirmed and can be
// restored, and an unconfirmed one is still rolled back at its time.
func TestTrialWithoutIndex(t *testing.T) {
	m := three(t)
	lost := func(want string, until time.Time) {
		t.Helper()
		if err := os.Remove(m.root + generation.Dir + "/index.json"); err != nil {
			t.Fatal(err)
		}
		equal(t, "generations", m.list(), want)
		if e, _ := m.open().Current(); !e.ConfirmBy.Equal(until) {
			t.Errorf("%s: it waits until %s, want %s", want, e.ConfirmBy, until)
		}
	}
	await := func(until time.Time) {
		t.Helper()
		if err := m.open().Await(until); err != nil {
			t.Fatal(err)
		}
	}
	tried := wanted("c4", file("/etc/a", "4"))
	m.advanceAs(generation.Entry{ConfirmBy: clock.Add(time.Hour)}, tried, generation.Good)
	await(clock.Add(time.Minute))
	record := m.read(generation.Dir + "/000004.json")
	lost("1 unknown, 2 unknown, 3 good, 4 unknown", clock.Add(time.Minute))
	await(time.Time{})
	equal(t, "the record", m.read(generation.Dir+"/000004.json"), strings.Replace(record, `,"confirmBy":"2026-11-20T12:01:00Z"`, "", 1))
	lost("1 unknown, 2 unknown, 3 good, 4 unknown", time.Time{})
	// The same plan again, on trial and not.
	for _, until := range []time.Time{clock.Add(time.Hour), {}} {
		equal(t, "number", m.advanceAs(generation.Entry{ConfirmBy: until}, tried, generation.Good), 4)
		lost("1 unknown, 2 unknown, 3 good, 4 unknown", until)
	}
	// A record with a deadline, although it was the good one of the next generation, is from an older version.
	equal(t, "number", m.advance(tried, generation.Good), 4)
	m.advance(wanted("c5", file("/etc/a", "5")), generation.Good)
	m.put(generation.Dir+"/000004.json", record, 0o600)
	lost("1 unknown, 2 unknown, 3 unknown, 4 good, 5 unknown", time.Time{})
	if good, found := m.open().LastGood(); !found || good.Number != 4 {
		t.Errorf("the last good one is %+v, %t", good, found)
	}
}

func allDamages(more map[string]func(string) string) map[string]func(string) string {
	for name, damage := range damages {
		more[name] = damage
	}
	return more
}

// A generation with a damaged file cannot be restored, and does not prevent others: the file is set aside when the next
// generation begins, and no generation takes its path without that.
func TestDamagedRecord(t *testing.T) {
	for name, damage := range allDamages(map[string]func(string) string{
		"another's":          func(c string) string { return strings.ReplaceAll(c, `"number":3`, `"number":2`) },
		"without a secret":   func(c string) string { return strings.Replace(c, `"content":"b"`, `"secret":true`, 1) },
		"without resources":  func(c string) string { return strings.Replace(c, `"resources"`, `"x"`, 1) },
		"a relative path":    func(c string) string { return strings.ReplaceAll(c, `"/etc/b"`, `"etc/b"`) },
		"a path up":          func(c string) string { return strings.ReplaceAll(c, `"/etc/b"`, `"/etc/../../b"`) },
		"a path to the root": func(c string) string { return strings.ReplaceAll(c, `"/etc/b"`, `"/"`) },
		"a path with a NUL":  func(c string) string { return strings.ReplaceAll(c, `"/etc/b"`, `"/etc/b\u0000"`) },
		"the agent's own": func(c string) string {
			return strings.ReplaceAll(c, `"/etc/b"`, `"/var/lib/slipway/generations/index.json"`)
		},
		"the kernel's":    func(c string) string { return strings.ReplaceAll(c, `"/etc/b"`, `"/proc/sysrq-trigger"`) },
		"a link up":       replacedSpec(`"kind":"Symlink"`, `{"path":"../x","target":"y"}`),
		"a directory up":  replacedSpec(`"kind":"Directory"`, `{"path":"/etc/","mode":"0755"}`),
		"a nameless unit": replacedSpec(`"kind":"Unit"`, `{}`),
		"no spec":         replacedSpec(`"kind":"File"`, `null`),
		"an unknown kind": replacedSpec(`"kind":"Shell"`, `{}`),
		"a file among its health checks": func(c string) string {
			return strings.Replace(c, `"resources":{`, `"resources":{"health":[{"id":"File:/etc/x","kind":"File","phase":"base","spec":{"path":"/etc/x","mode":"0644"}}],`, 1)
		},
		"a nameless health check": func(c string) string {
			return strings.Replace(c, `"resources":{`, `"resources":{"health":[{"id":"Check:","kind":"Check","phase":"base","spec":{"label":"","timeout":"1s"}}],`, 1)
		},
		"an original up": func(c string) string {
			return strings.TrimSuffix(c, "}\n") + `,"originals":[{"path":"/a/../b","kind":"file"}]}`
		},
		"an original device": func(c string) string {
			return strings.TrimSuffix(c, "}\n") + `,"originals":[{"path":"/b","kind":"other"}]}`
		},
	}) {
		m := three(t)
		record := generation.Dir + "/000003.json"
		damaged := damage(m.read(record))
		if damaged == m.read(record) {
			t.Fatalf("%s: is not damaged", name)
		}
		m.put(record, damaged, 0o600)
		equal(t, name, m.list(), "1 good, 2 failed, 3 good")
		if _, err := m.open().Plan(3); err == nil || !strings.Contains(err.Error(), "generation 3") {
			t.Errorf("%s: the plan: %v", name, err)
		}
		if p, err := m.open().Plan(1); err != nil || len(p.Resources) != 3 {
			t.Errorf("%s: another plan: %v", name, err)
		}
		if removed, restored := m.open().Stale(resource.Plan{}); len(removed)+len(restored) > 0 {
			t.Errorf("%s: what it brought is known: %v %v", name, removed, restored)
		}
		equal(t, name+": before anything is written", m.read(record), damaged)
		// The same plan again is a readable generation.
		equal(t, name, m.advance(wanted("c3", file("/etc/a", "3"), file("/etc/b", "b")), generation.Good), 4)
		equal(t, name+": what is set aside", m.read(record+".damaged"), damaged)
		equal(t, name, m.read(record), "absent")
		if _, err := m.open().Plan(4); err != nil {
			t.Errorf("%s: the plan of what was applied since: %v", name, err)
		}
		equal(t, name, m.list(), "1 good, 2 failed, 3 good, 4 good")
	}
}

// replacedSpec replaces the last resource of a record.
func replacedSpec(kind, spec string) func(string) string {
	return func(c string) string {
		before, after, _ := strings.Cut(c, `{"id":"File:/etc/b"`)
		_, after, _ = strings.Cut(after, "}}")
		return before + `{"id":"X",` + kind + `,"phase":"base","spec":` + spec + `}` + after
	}
}

// Both are damaged: the number of an unreadable file is used again, and the file is set aside.
func TestAllDamaged(t *testing.T) {
	m := three(t)
	for _, name := range strings.Fields(m.names()) {
		m.put(generation.Dir+"/"+name, "{", 0o600)
	}
	equal(t, "generations", m.list(), "")
	equal(t, "the next", m.advance(wanted("c4", file("/etc/a", "4")), generation.Good), 1)
	equal(t, "files", m.names(), "000001.json 000001.json.damaged 000002.json.damaged 000003.json.damaged index.json index.json.damaged")
	equal(t, "generations", m.list(), "1 good")
}

// A file that is not in the index is from a run that died: it is not a generation, and is overwritten.
func TestOrphan(t *testing.T) {
	m := three(t)
	index := m.read(generation.Dir + "/index.json")
	m.begin(generation.Entry{}, wanted("c4", file("/etc/a", "4")))
	m.put(generation.Dir+"/index.json", index, 0o600)
	equal(t, "generations", m.list(), "1 good, 2 failed, 3 good")
	equal(t, "the next", m.advance(wanted("c5", file("/etc/a", "5")), generation.Good), 4)
	if p, err := m.open().Plan(4); err != nil || p.Config != "c5" {
		t.Errorf("%+v, %v", p, err)
	}
}

// Reading a store writes and moves nothing.
func TestReadingWritesNothing(t *testing.T) {
	m := three(t)
	m.put(generation.Dir+"/000001.json", "{", 0o600)
	m.put(generation.Dir+"/index.json", "{", 0o600)
	before := fmt.Sprint(m.names(), m.read(generation.Dir+"/index.json"))
	s := m.open()
	for number := range 5 {
		_, _ = s.Plan(number)
	}
	s.Stale(resource.Plan{})
	if _, err := s.Next(generation.Entry{}, wanted("c3", file("/etc/a", "3"))); err != nil {
		t.Error(err)
	}
	equal(t, "after", fmt.Sprint(m.names(), m.read(generation.Dir+"/index.json")), before)
}
