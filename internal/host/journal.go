package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
)

const (
	// logGrace is how long a journalctl has after SIGTERM.
	logGrace = 200 * time.Millisecond
	// recordsTimeout limits reading records.
	recordsTimeout = 10 * time.Second
	// syncTimeout limits the wait until the journal has the last lines.
	syncTimeout = time.Second
)

// journal is the journal as a program prints it. A machine without the program has an empty one.
func journal(program string) systemd.Journal {
	return func(ctx context.Context, query JournalQuery) (records []byte, cut bool, err error) {
		if records, cut, err = readJournal(ctx, program, query); errors.Is(err, exec.ErrNotFound) {
			return nil, false, nil
		}
		return records, cut, err
	}
}

// ReadJournal returns the records that match, oldest first, as lines of JSON. cut reports whether there are more. The error
// includes what journalctl says, for a user who may not read the journal or a machine that has none.
func (m *Machine) ReadJournal(ctx context.Context, query JournalQuery) (records []byte, cut bool, err error) {
	return readJournal(ctx, "journalctl", query)
}

// ReadJournal reads nothing: a directory's units write to no journal.
func (d *Directory) ReadJournal(context.Context, JournalQuery) (records []byte, cut bool, err error) {
	return nil, false, apply.ErrNotProbed
}

// readJournal stops the program at the limit. What it returns is whole records.
func readJournal(ctx context.Context, name string, query JournalQuery) (records []byte, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, recordsTimeout)
	defer cancel()
	searchPath, variables := environment(nil)
	program, err := lookProgram(name, searchPath)
	if err != nil {
		return nil, false, err
	}
	if query.Sync { // if it fails, the available lines are better than nothing
		_, _ = run(ctx, &resource.Command{Label: "journalctl", Argv: []string{program, "--sync"}, Timeout: resource.Duration(syncTimeout)}, logGrace)
	}
	args := []string{"--no-pager", "--quiet", "--output=json", "--output-fields=" + strings.Join(query.Fields, ",")}
	if query.Newest {
		args = append(args, "--reverse")
	}
	cmd := exec.CommandContext(ctx, program, append(args, query.Match...)...)
	cmd.Dir, cmd.Env = "/", variables
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = logGrace
	var messages tail
	cmd.Stderr = &messages
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	if err := cmd.Start(); err != nil {
		return nil, false, err
	}
	read, err := io.ReadAll(io.LimitReader(output, query.Limit+1))
	if cut = int64(len(read)) > query.Limit; cut {
		read = read[:query.Limit]
		cancel()
		_ = cmd.Wait() // it was stopped
		err = nil
	} else if failed := cmd.Wait(); ctx.Err() != nil {
		err = fmt.Errorf("journalctl did not end in time: %w", ctx.Err())
	} else if err = cmp.Or(err, failed); err != nil {
		err = fmt.Errorf("journalctl: %w: %s", err, bytes.TrimSpace(messages.bytes()))
	}
	records = read[:bytes.LastIndexByte(read, '\n')+1] // the last record may be cut
	if query.Newest {
		records = reversed(records)
	}
	return records, cut, err
}

// reversed returns lines in the other order.
func reversed(lines []byte) []byte {
	all := make([]byte, 0, len(lines))
	for len(lines) > 0 {
		start := bytes.LastIndexByte(lines[:len(lines)-1], '\n') + 1
		all = append(all, lines[start:]...)
		lines = lines[:start]
	}
	return all
}
