package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
)

const (
	// logGrace is how long a journalctl has after SIGTERM.
	logGrace = 200 * time.Millisecond
	// recordsTimeout limits reading the records of a unit.
	recordsTimeout = 5 * time.Second
)

// journal is the journal as a program prints it.
func journal(program string) systemd.Journal {
	return func(ctx context.Context, timeout time.Duration, args ...string) (end []byte, cut bool, err error) {
		end, err = run(ctx, &resource.Command{
			Label: "journalctl", Argv: append([]string{program}, args...), Timeout: resource.Duration(timeout),
		}, logGrace)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, false, nil
		}
		return end, len(end) == maxOutput, err
	}
}

// ReadJournal returns the newest records of the journal that match, oldest first, at most limit bytes of them: one JSON object in
// a line, with the given fields besides the journal's own (journalctl(1), "json"). cut reports whether there are older ones.
func (m *Machine) ReadJournal(ctx context.Context, match []string, fields string, limit int64) (records []byte, cut bool, err error) {
	return readJournal(ctx, "journalctl", match, fields, limit)
}

// ReadJournal reads nothing: a directory's units write to no journal.
func (d *Directory) ReadJournal(context.Context, []string, string, int64) (records []byte, cut bool, err error) {
	return nil, false, apply.ErrNotProbed
}

// readJournal reads the newest record first, and stops the program at the limit.
func readJournal(ctx context.Context, name string, match []string, fields string, limit int64) (records []byte, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, recordsTimeout)
	defer cancel()
	searchPath, variables := environment(nil)
	program, err := lookProgram(name, searchPath)
	if err != nil {
		return nil, false, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"--no-pager", "--quiet", "--reverse", "--output=json", "--output-fields=" + fields}, match...)...)
	cmd.Dir, cmd.Env = "/", variables
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = logGrace
	var errors tail
	cmd.Stderr = &errors
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	if err := cmd.Start(); err != nil {
		return nil, false, err
	}
	newest, err := io.ReadAll(io.LimitReader(output, limit+1))
	if cut = int64(len(newest)) > limit; cut {
		newest = newest[:bytes.LastIndexByte(newest[:limit], '\n')+1]
		cancel()
		_ = cmd.Wait() // it was stopped
		return reversed(newest), true, nil
	}
	if failed := cmd.Wait(); err == nil {
		err = failed
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("journalctl did not end within %s: %w", recordsTimeout, ctx.Err())
	} else if err != nil {
		err = fmt.Errorf("journalctl: %w: %s", err, bytes.TrimSpace(errors.bytes()))
	}
	// What was read is whole records, and a last one that may be cut.
	return reversed(newest[:bytes.LastIndexByte(newest, '\n')+1]), false, err
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
