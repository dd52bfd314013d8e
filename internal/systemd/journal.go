package systemd

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

// JournalQuery selects records of the journal.
type JournalQuery struct {
	// Match is what matches (journalctl(1), "Matches"), and options that select.
	Match []string
	// Fields are the fields of a record that are read, besides its times and the boot's ID.
	Fields []string
	// Limit is how many bytes are read at most, and Newest reads the newest records rather than the oldest.
	Limit  int64
	Newest bool
	// Sync waits until the journal has all lines that were written before, for a second at most.
	Sync bool
}

// Journal returns the records that match, oldest first, as lines of JSON (journalctl(1), "json"). cut reports whether there
// are more. If the machine has no journalctl, it returns nothing and no error.
type Journal func(ctx context.Context, query JournalQuery) (records []byte, cut bool, err error)

const (
	// maxRecords is how many bytes of records are read, of which one is 300 besides its text.
	maxRecords = 64 << 10
	// maxLines is how many bytes of lines are shown.
	maxLines = 4 << 10
	// maxLogLine is how many bytes of a line are shown.
	maxLogLine = 512
)

// newest returns the last lines of the newest records that match: at most n lines, and 4 KiB. The zero time is no limit.
func (m *Manager) newest(ctx context.Context, n int, since time.Time, match ...string) ([]string, error) {
	// Records are read backwards: with --since, -n means the first ones, and with -g it implies this order (seen with
	// systemd 252). Without --all, a text of more than 4,096 bytes is left out.
	options := []string{"--all", "-n", strconv.Itoa(n)}
	if !since.IsZero() {
		options = append(options, "--since=@"+strconv.FormatFloat(float64(since.UnixMicro())/1e6, 'f', 6, 64)) // systemd.time(7)
	}
	records, _, err := m.journal(ctx, JournalQuery{Match: append(options, match...), Fields: messageOnly, Limit: maxRecords, Newest: true})
	var lines []string
	for record := range strings.Lines(string(records)) {
		for line := range strings.SplitSeq(readRecord(record).text(), "\n") {
			if line = redact.Line(line, maxLogLine); line != "" {
				lines = append(lines, line)
			}
		}
	}
	first, size := len(lines), 0
	for ; first > 0 && len(lines)-first < n && size+len(lines[first-1]) <= maxLines; first-- {
		size += len(lines[first-1])
	}
	return slices.Clip(lines[first:]), err
}

// messageOnly are the fields of a record that record reads.
var messageOnly = []string{"MESSAGE"}

// record is a record of the journal.
type record struct {
	// Message is a text, or the list of its bytes if it has one that cannot be printed.
	Message json.RawMessage `json:"MESSAGE"`
	// Time is in microseconds.
	Time string `json:"__REALTIME_TIMESTAMP"`
}

// readRecord reads a line that Journal returns. It is empty if it is not a record.
func readRecord(line string) (r record) {
	_ = json.Unmarshal([]byte(line), &r)
	return r
}

func (r record) text() string {
	var text string
	var numbers []uint16 // encoding/json reads a list of uint8 from a text only
	if json.Unmarshal(r.Message, &text) == nil || json.Unmarshal(r.Message, &numbers) != nil {
		return text
	}
	all := make([]byte, 0, len(numbers))
	for _, n := range numbers {
		all = append(all, byte(n))
	}
	return string(all)
}

// at is the record's time, or the zero time.
func (r record) at() time.Time {
	micros, err := strconv.ParseInt(r.Time, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}
