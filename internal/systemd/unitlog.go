package systemd

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

const (
	// logLines is how many lines of a unit's journal are shown.
	logLines = 10
	// maxErrorLines is how many bytes of lines an error shows: a provision.json has 1,000 for all errors, of which it
	// keeps the beginning, and the last lines are the important ones.
	maxErrorLines = 640
	lineSeparator = " | "
	// logTimeout limits reading a unit's journal; lateLogTimeout applies if the failed call's time is already over.
	logTimeout     = 3 * time.Second
	lateLogTimeout = time.Second
)

// UnitError is the error of a unit in a wrong state, with the last lines of its journal: they usually name the wrong
// setting or file.
type UnitError struct {
	Unit string
	// Lines are the last lines of its journal, without secrets.
	Lines []string
	Err   error
}

// Error shows the last of the lines: as many as fit in a short text, and at least the newest.
func (e *UnitError) Error() string {
	first, size := len(e.Lines), 0
	for ; first > 0; first-- {
		if size += len(e.Lines[first-1]) + len(lineSeparator); size > maxErrorLines && first < len(e.Lines) {
			break
		}
	}
	return e.Err.Error() + "; last lines: " + strings.Join(e.Lines[first:], lineSeparator)
}

func (e *UnitError) Unwrap() error { return e.Err }

// Log returns the last ten lines that the unit, and systemd about it, wrote to the journal since its last start: at
// most 4 KiB, without control characters and secrets. It is empty for a unit that never started, and if there is no
// journalctl.
func (m *Manager) Log(ctx context.Context, unit string) ([]string, error) {
	if err := checkUnit(unit); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	properties, err := m.properties(ctx, UnitObject(unit), unitInterface, "InvocationID")
	if err != nil && !errors.Is(err, ErrNoUnit) {
		return nil, err
	}
	invocation, _ := properties["InvocationID"].([]byte)
	if len(invocation) == 0 {
		return nil, nil
	}
	// The unit's lines, and systemd's lines about it (systemd.journal-fields(7)).
	about := "INVOCATION_ID=" + hex.EncodeToString(invocation)
	matches := []string{"_SYSTEMD_" + about, "+", about}
	if since := m.began(ctx, about); !since.IsZero() {
		all := append([]string{"_SYSTEMD_UNIT=" + unit, "+"}, matches...)
		// There is no line if the clock was set back since then.
		if lines, err := m.newest(ctx, logLines, since, all...); len(lines) > 0 {
			return lines, err
		}
	}
	return m.newest(ctx, logLines, time.Time{}, matches...)
}

// began returns the time of systemd's first line about the start of a unit. The lines since then are the unit's also if they
// lack the ID of the start: journald reads the ID from a link that systemd removes when the unit has ended, and a unit that
// fails at once can have ended before (systemd v252, src/core/unit.c, unit_notify; src/journal/journald-context.c,
// client_context_read_invocation_id). Without such a line, it is zero.
func (m *Manager) began(ctx context.Context, about string) time.Time {
	// The unit's last lines may still be on their way to the journal.
	records, _, _ := m.journal(ctx, JournalQuery{Match: []string{about}, Fields: messageOnly, Limit: maxLines, Sync: true})
	first, _, _ := strings.Cut(string(records), "\n")
	return readRecord(first).at()
}

// WithLog adds the last lines of a unit's journal, if any, to an error. It reads them even if ctx is done.
func (m *Manager) WithLog(ctx context.Context, unit string, err error) error {
	timeout := logTimeout
	if ctx.Err() != nil {
		timeout = lateLogTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	lines, logErr := m.Log(ctx, unit)
	if logErr != nil || len(lines) == 0 {
		return err
	}
	return &UnitError{Unit: unit, Lines: lines, Err: err}
}
