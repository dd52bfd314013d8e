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
	// logLines is how many lines of a unit's journal are shown; all of them together are bounded by
	// what a Journal returns.
	logLines = 10
	// maxLogLine is how many bytes of a line are shown.
	maxLogLine = 512
	// maxErrorLines is how many bytes of lines an error shows: a provision.json has 1,000 for all errors, of
	// which it keeps the beginning, and the end of the lines is what matters.
	maxErrorLines = 640
	lineSeparator = " | "
	// logTimeout bounds the reading of a unit's journal, lateLogTimeout where the time of what failed is
	// over already.
	logTimeout     = 3 * time.Second
	lateLogTimeout = time.Second
	// syncTimeout bounds the wait for the journal to take in what a unit wrote last.
	syncTimeout = time.Second
)

// UnitError is the error of a unit that is not as it was to be, with the last lines that it wrote: they
// usually name the setting or the file that is wrong.
type UnitError struct {
	Unit string
	// Lines are the last of its journal, without secrets.
	Lines []string
	Err   error
}

// Error shows the last of the lines: as many as fit where a short text is wanted, and the newest at least.
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

// Journal runs journalctl with arguments, for no longer than a time. It returns the end of what it printed, of at most
// 4 KiB, and whether it printed more before that. Where the machine has no journalctl it returns nothing, and no error.
type Journal func(ctx context.Context, timeout time.Duration, args ...string) (end []byte, cut bool, err error)

// Log returns the last ten lines that the unit, and systemd about it, wrote to the journal since it
// was last started. It is at most 4 KiB, without control characters and secrets. It is empty for a unit
// that was never started, and where there is no journalctl.
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
	// What a unit wrote just before it ended may still be on its way to the journal (journalctl(1),
	// --sync). Where that cannot be waited for, what is there is better than nothing.
	m.journal(ctx, syncTimeout, "--sync")
	id := hex.EncodeToString(invocation)
	output, cut, err := m.journal(ctx, logTimeout, "--no-pager", "-q", "-o", "cat", "-n", strconv.Itoa(logLines),
		// What the unit wrote, or systemd did about it (systemd.journal-fields(7)).
		"_SYSTEMD_INVOCATION_ID="+id, "+", "INVOCATION_ID="+id)
	if err != nil {
		return nil, err
	}
	return shownLines(output, cut), nil
}

// shownLines are the last lines of the end of an output, fit to be shown. Of a first line that the end
// begins in the middle of, what follows its first space is left: a secret that was cut in two is not
// recognized.
func shownLines(output []byte, cut bool) []string {
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
	return slices.Clip(lines[max(0, len(lines)-logLines):])
}

// WithLog adds the last lines of a unit's journal to an error, where there are any. It is asked for even
// when ctx is done.
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
