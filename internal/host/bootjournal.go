package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// bootJournalTime limits reading the journal, and journalEnd is how long journalctl has to end.
const (
	bootJournalTime = 20 * time.Second
	journalEnd      = time.Second
)

// BootJournal returns records of this boot's journal in JSON, one in each line, from the boot's start and at most limit bytes: those
// that match (journalctl(1), "Matches"), with the given fields, its times and the boot's ID. cut reports whether there is more. The error includes what journalctl says, for a user who may not read the journal or a machine that
// has none.
func (m *Machine) BootJournal(ctx context.Context, limit int, fields, matches []string) (records []byte, cut bool, err error) {
	return bootJournal(ctx, "journalctl", limit, fields, matches)
}

func bootJournal(ctx context.Context, program string, limit int, fields, matches []string) (records []byte, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, bootJournalTime)
	defer cancel()
	searchPath, variables := environment(nil)
	if program, err = lookProgram(program, searchPath); err != nil {
		return nil, false, err
	}
	var messages tail
	head := &firstBytes{left: limit, full: cancel}
	args := []string{"--boot", "--output=json", "--no-pager", "--quiet", "--output-fields=" + strings.Join(fields, ",")}
	cmd := exec.CommandContext(ctx, program, append(args, matches...)...)
	cmd.Env, cmd.Dir = variables, "/"
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = head, &messages, journalEnd
	err = cmd.Run()
	if head.cut {
		return head.kept, true, nil
	}
	if err != nil {
		err = fmt.Errorf("read the journal: %w: %s", err, bytes.TrimSpace(messages.bytes()))
	}
	return head.kept, false, err
}

// firstBytes keeps the first bytes that are written to it, and reports when there are more.
type firstBytes struct {
	kept []byte
	left int
	full func()
	cut  bool
}

var errFull = errors.New("no more is read")

func (l *firstBytes) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.cut = true
		l.kept = append(l.kept, p[:l.left]...)
		l.left = 0
		l.full()
		return 0, errFull
	}
	l.left -= len(p)
	l.kept = append(l.kept, p...)
	return len(p), nil
}
