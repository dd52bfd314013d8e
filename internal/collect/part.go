package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// margin is how much before the kept end of a source is read, too: a secret may begin there.
const margin = 64 << 10

// part is one file of the bundle.
type part struct {
	name, source, why string
	// size is the size of the source, or -1 if unknown before it is read.
	size int64
	// limit is how long read may take. 0 means readLimit.
	limit time.Duration
	read  func(ctx context.Context) (content, error)
}

// content is what was read from a source.
type content struct {
	data []byte
	// from is where the kept end begins, and cut is why something is before it.
	from int
	cut  string
}

// gone reports a source that is not there, with the reason.
type gone = func(source, reason string)

// parts returns the files of the bundle that an item gives, and reports what is missing of it.
func (c *Collector) parts(item Item, report gone) (parts []part) {
	var nowhere []string
	for _, pattern := range item.Files {
		paths, more, err := glob(c.Machine, pattern)
		switch {
		case err != nil:
			report(pattern, err.Error())
		case len(paths) == 0:
			nowhere = append(nowhere, pattern)
		case more:
			report(pattern, fmt.Sprintf("there are more files than the limit of %d; only the last ones by name are collected", maxMatches))
		}
		for _, path := range paths {
			if p, ok := c.file(path, item.Limit, report); ok {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 0 && len(nowhere) > 0 {
		report(strings.Join(nowhere, ", "), "there is no such file")
	}
	for _, unit := range item.Units {
		parts = append(parts, c.journal(unit, unit, "--unit="+unit))
	}
	if item.Kernel {
		parts = append(parts, c.journal("kernel", "the kernel", "--dmesg"))
	}
	if item.Systemd {
		parts = append(parts, produced("systemd/units.json", "systemd's properties", func(ctx context.Context) (any, error) { return c.Machine.Snapshot(ctx) }))
	}
	for i := range parts {
		parts[i].why = item.Why
	}
	return parts
}

// file returns the part of a regular file, and reports anything else.
func (c *Collector) file(path string, limit int64, report gone) (p part, ok bool) {
	entry, err := c.Machine.Stat(path)
	switch {
	case err != nil:
		report(path, err.Error())
	case entry.Kind == apply.Symlink:
		report(path, "is a symbolic link to "+entry.Target)
	case entry.Kind == apply.Directory:
	case entry.Kind != apply.RegularFile:
		report(path, "is a pipe, a socket or a device, not a regular file")
	default:
		return part{name: supportbundle.FileDir + path, source: path, size: entry.Size, read: func(context.Context) (content, error) {
			return c.readFile(path, limit)
		}}, true
	}
	return part{}, false
}

// produced is the part of a value that becomes JSON. Bytes stay as they are.
func produced(name, source string, produce func(ctx context.Context) (any, error)) part {
	return part{name: name, source: source, size: -1, read: func(ctx context.Context) (content, error) {
		value, err := produce(ctx)
		if err != nil {
			return content{}, err
		}
		if data, ok := value.([]byte); ok {
			return content{data: data}, nil
		}
		var out bytes.Buffer
		err = cli.WriteJSON(&out, value)
		return content{data: out.Bytes()}, err
	}}
}

// readFile reads the end of a file.
func (c *Collector) readFile(path string, limit int64) (content, error) {
	data, size, err := c.Machine.ReadEnd(path, limit+margin)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, errors.New("there is no such file any more")
	}
	if err != nil {
		return content{}, err
	}
	return end(data, size > int64(len(data)), limit, fmt.Sprintf("of %d bytes, only the end is kept: the limit is %d", size, limit)), nil
}

// end keeps at most limit bytes of the end of data, in whole lines.
func end(data []byte, cut bool, limit int64, reason string) content {
	if int64(len(data)) <= limit && !cut {
		return content{data: data}
	}
	from := max(0, len(data)-int(limit))
	if line := bytes.IndexByte(data[from:], '\n'); line >= 0 {
		from += line + 1
	}
	return content{data, from, reason}
}

// journalFields are the fields of a record that are collected, besides the journal's own: times and boot. Those with command
// lines and environments are not (systemd.journal-fields(7)).
var journalFields = []string{
	"MESSAGE", "MESSAGE_ID", "PRIORITY", "SYSLOG_IDENTIFIER", "_COMM", "_PID", "_SYSTEMD_UNIT", "UNIT", "_TRANSPORT", "JOB_TYPE", "JOB_RESULT", "INVOCATION_ID",
	"_SYSTEMD_INVOCATION_ID", "EXIT_CODE", "EXIT_STATUS", "_SOURCE_REALTIME_TIMESTAMP", "_SOURCE_MONOTONIC_TIMESTAMP",
}

// errNoRecords means that a journal has nothing about a subject.
var errNoRecords = errors.New("the journal has no records")

func (c *Collector) journal(name, of, match string) part {
	return part{name: supportbundle.JournalDir + "/" + name + ".json", source: "journal of " + of, size: -1, read: func(ctx context.Context) (content, error) {
		records, cut, err := c.Machine.ReadJournal(ctx, host.JournalQuery{Match: []string{match}, Fields: journalFields, Limit: journalLimit + margin, Newest: true})
		if len(records) == 0 {
			if err == nil {
				err = errNoRecords
			}
			return content{}, err
		}
		kept := end(texts(records), cut, journalLimit, fmt.Sprintf("only the newest records are kept: the limit is %d bytes", journalLimit))
		if err != nil {
			kept.cut = "only the newest records are kept: " + err.Error()
		}
		return kept, nil
	}}
}

// texts writes fields that the journal shows as lists of bytes as texts, so that they can be searched. The journal shows a text
// with a control character so (journalctl(1), "json").
func texts(records []byte) []byte {
	if !bytes.Contains(records, []byte(":[")) && !bytes.Contains(records, []byte(": [")) {
		return records
	}
	out := make([]byte, 0, len(records))
	for line := range bytes.Lines(records) {
		var record map[string]any
		if !bytes.Contains(line, []byte("[")) || json.Unmarshal(line, &record) != nil {
			out = append(out, line...)
			continue
		}
		for name, value := range record {
			if list, ok := value.([]any); ok {
				record[name] = text(list)
			}
		}
		encoded, err := json.Marshal(record)
		if err != nil {
			continue // it was decoded
		}
		out = append(append(out, encoded...), '\n')
	}
	return out
}

// text is a list of bytes, or of several values of a field, as one text.
func text(list []any) string {
	var out strings.Builder
	for i, value := range list {
		switch value := value.(type) {
		case float64:
			out.WriteByte(byte(value))
		case string:
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(value)
		case []any:
			out.WriteString(text(value))
		}
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}
