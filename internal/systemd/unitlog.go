package systemd

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

const (
	// logLines is how many lines of a unit's journal are shown; a Journal's result limits their total size.
	logLines = 10
	// maxLogLine is how many bytes of a line are shown.
	maxLogLine = 512
	// maxErrorLines is how many bytes of lines an error shows: a provision.json has 1,000 for all errors, of which it
	// keeps the beginning, and the last lines are the important ones.
	maxErrorLines = 640
	lineSeparator = " | "
	// logTimeout limits reading a unit's journal; lateLogTimeout applies if the failed call's time is already over.
	logTimeout     = 3 * time.Second
	lateLogTimeout = time.Second
	// syncTimeout limits the wait until the journal has the unit's last lines.
	syncTimeout = time.Second
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

// Journal runs journalctl with arguments, with a timeout. It returns the end of its output, at most 4 KiB, and whether
// there was more before that. If the machine has no journalctl, it returns nothing and no error.
type Journal func(ctx context.Context, timeout time.Duration, args ...string) (end []byte, cut bool, err error)

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
	// The unit's last lines may still be on their way to the journal (journalctl(1), --sync). If the sync fails, the
	// available lines are better than nothing.
	m.journal(ctx, syncTimeout, "--sync")
	// The unit's lines, and systemd's lines about it (systemd.journal-fields(7)).
	about := "INVOCATION_ID=" + hex.EncodeToString(invocation)
	matches := []string{"_SYSTEMD_" + about, "+", about}
	if since, known := m.began(ctx, about); known {
		// There is no line if the clock was set back since then.
		all := append([]string{"_SYSTEMD_UNIT=" + unit, "+"}, matches...)
		if n := m.countSince(ctx, since, all...); n > 0 {
			return m.lines(ctx, n, all...)
		}
	}
	return m.lines(ctx, logLines, matches...)
}

// lines returns the last n entries of the journal that match, at most ten lines.
func (m *Manager) lines(ctx context.Context, n int, matches ...string) ([]string, error) {
	output, cut, err := m.journal(ctx, logTimeout, append([]string{"--no-pager", "-q", "-o", "cat", "-n", strconv.Itoa(n)}, matches...)...)
	return lastLines(output, cut, logLines), err
}

// countSince counts those of the last ten entries that match that are not older than a time. With --since, -n means the
// first ones (seen with systemd 252).
func (m *Manager) countSince(ctx context.Context, since float64, matches ...string) int {
	output, _, _ := m.journal(ctx, logTimeout, append([]string{"--no-pager", "-q", "-o", "short-unix", "-n", strconv.Itoa(logLines)}, matches...)...)
	n := 0
	for line := range strings.Lines(string(output)) { // a further line of the same message is indented
		if at, known := timeOf(line); known && at >= since {
			n++
		}
	}
	return n
}

// timeOf is the time of a line in the format short-unix, in seconds.
func timeOf(line string) (seconds float64, known bool) {
	first, _, known := strings.Cut(line, " ")
	seconds, err := strconv.ParseFloat(first, 64)
	return seconds, known && err == nil
}

// began returns the time of systemd's first line about the start of a unit, in seconds. The lines since then are the unit's also if they lack the
// ID of the start: journald reads the ID from a link that systemd removes when the unit has ended, and a unit that fails at once can have
// ended before (systemd v252, src/core/unit.c, unit_notify; src/journal/journald-context.c, client_context_read_invocation_id).
func (m *Manager) began(ctx context.Context, about string) (seconds float64, known bool) {
	output, cut, err := m.journal(ctx, logTimeout, "--no-pager", "-q", "-o", "short-unix", about)
	if err != nil || cut {
		return 0, false
	}
	return timeOf(string(output))
}

// lastLines returns the last lines of the end of an output, ready to be shown. If the end begins within a line, that
// line is kept only after its first space, because a secret that is cut in two is not recognized.
func lastLines(output []byte, cut bool, most int) []string {
	text := string(output)
	if cut {
		space := strings.IndexAny(text, " \n")
		text = text[space+1:]
		if space < 0 {
			text = ""
		}
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = redact.Line(line, maxLogLine); line != "" {
			lines = append(lines, line)
		}
	}
	return slices.Clip(lines[max(0, len(lines)-most):])
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
