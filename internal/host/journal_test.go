package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/test/hosttest"
)

// script is the journal as a script prints it.
func script(t *testing.T, lines string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "journalctl")
	must(t, os.WriteFile(name, []byte("#!/bin/sh\n"+lines+"\n"), 0o755))
	return name
}

// A machine without journalctl has an empty journal. What journalctl prints is read after it has waited for the last lines.
func TestJournal(t *testing.T) {
	const syncs = `case "$*" in --sync) : >"$0.synced"; exit 1;; esac; test -e "$0.synced" && echo '{"a":1}'`
	for _, c := range []struct {
		program, records string
		fails            bool
	}{
		{script(t, syncs), `{"a":1}` + "\n", false},
		{script(t, "exit 1"), "", true},
		{"journalctl-that-is-not-there", "", false},
	} {
		records, cut, err := journal(c.program)(t.Context(), JournalQuery{Limit: 100, Sync: true})
		if string(records) != c.records || cut || (err != nil) != c.fails {
			t.Errorf("%s: got %q, %v, %v", c.program, records, cut, err)
		}
	}
}

// If journalctl hangs, it gets only the remaining time.
func TestJournalHangs(t *testing.T) {
	dir, ctx := t.TempDir(), hosttest.NewTimed(t)
	hangs := script(t, "trap '' TERM\n: > "+dir+"/hangs\nwhile :; do sleep 0.05; done")
	go func() {
		hosttest.Eventually(t, "journalctl hangs", func() bool { _, err := os.Stat(dir + "/hangs"); return err == nil })
		ctx.Over()
	}()
	if _, _, err := journal(hangs)(ctx, JournalQuery{Limit: 100}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// The newest records are read, and returned in their order. A journalctl that prints more is stopped.
func TestReadJournal(t *testing.T) {
	read := func(program string, limit int64) (string, bool, error) {
		records, cut, err := readJournal(t.Context(), program, JournalQuery{Match: []string{"--unit=a.service"}, Fields: []string{"MESSAGE", "UNIT"}, Limit: limit, Newest: true})
		return string(records), cut, err
	}
	three := script(t, `printf '{"a":3}\n{"a":2}\n{"a":1}\n'`)
	if got, cut, err := read(three, 100); got != `{"a":1}`+"\n"+`{"a":2}`+"\n"+`{"a":3}`+"\n" || cut || err != nil {
		t.Errorf("got %q, %v, %v", got, cut, err)
	}
	if got, cut, err := read(three, 20); got != `{"a":2}`+"\n"+`{"a":3}`+"\n" || !cut || err != nil {
		t.Errorf("got %q, %v, %v", got, cut, err)
	}
	if got, cut, err := read(script(t, `while :; do echo '{"a":1}'; done`), 1000); len(got) != 1000 || !cut || err != nil {
		t.Errorf("got %d bytes, %v, %v", len(got), cut, err)
	}
	if got, _, err := read(script(t, `echo '{"a":1}'; printf cut; echo broken >&2; exit 1`), 1000); got != `{"a":1}`+"\n" || err == nil || err.Error() != "journalctl: exit status 1: broken" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, _, err := read(script(t, `echo "$*"`), 1000); got != "--no-pager --quiet --output=json --output-fields=MESSAGE,UNIT --reverse --unit=a.service\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, _, err := read("journalctl-that-is-not-there", 1000); err == nil {
		t.Error("no error")
	}
	oldest, cut, err := readJournal(t.Context(), script(t, `echo '{"a":1}'; while :; do echo '{"a":2}'; done`), JournalQuery{Limit: 20})
	if string(oldest) != `{"a":1}`+"\n"+`{"a":2}`+"\n" || !cut || err != nil {
		t.Errorf("got %q, %v, %v", oldest, cut, err)
	}
}
