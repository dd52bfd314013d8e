package record

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// entry is a record of a journal. Its texts are parts of the document.
type entry struct {
	sink *sink
	line int
	boot []byte
	// wall and monotonic are when the journal got the record; sent is when the kernel wrote it, on the monotonic clock.
	wall, monotonic, sent int64
	hasSent               bool
	// unit is the unit whose process wrote the record, and about the one that systemd wrote it about.
	unit, about []byte
	identifier  []byte
	host        []byte
	messageID   []byte
	text        rawText
}

// set keeps a field of a journal (systemd.journal-fields(7)).
func (e *entry) set(name []byte, text rawText) {
	value := text.bytes // none of the fields but the message has a character that JSON escapes
	switch string(name) {
	case "MESSAGE":
		e.text = text
	case "__REALTIME_TIMESTAMP":
		e.wall = number(value)
	case "__MONOTONIC_TIMESTAMP":
		e.monotonic = number(value)
	case "_SOURCE_MONOTONIC_TIMESTAMP":
		e.sent, e.hasSent = number(value), true
	case "_BOOT_ID":
		e.boot = value
	case "_SYSTEMD_UNIT":
		e.unit = value
	case "UNIT":
		e.about = value
	case "SYSLOG_IDENTIFIER":
		e.identifier = value
	case "_HOSTNAME":
		e.host = value
	case "MESSAGE_ID":
		e.messageID = value
	}
}

// number is a decimal number, or 0.
func number(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// keep keeps a record that has both clocks and a boot.
func (s *sink) keep(e entry) {
	if e.wall == 0 || len(e.boot) == 0 {
		s.unread(e.line, 0, "the record has no time or no boot ID")
		return
	}
	e.sink = s
	*s.entries = append(*s.entries, e)
}

// isJournal reports whether a document is a journal in JSON.
func isJournal(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"__REALTIME_TIMESTAMP"`))
}

// parseJournal reads the output of journalctl -o json: an object in each line.
func parseJournal(s *sink, data []byte) {
	s.lines(data, func(line int, text []byte) {
		e := entry{line: line}
		if err := scanObject(text, e.set); err != nil {
			s.unread(line, len(text), "%v", err)
			return
		}
		s.keep(e)
	})
}

// isExport reports whether a document is a journal in the export format.
func isExport(head []byte) bool { return bytes.HasPrefix(head, []byte("__CURSOR=")) }

// parseExport reads the journal's export format (systemd.io, "Journal Export Formats"): a field in each line; a field with a line
// break or binary has its name alone in a line, then its size in eight bytes, and then its bytes. An empty line ends a record.
func parseExport(s *sink, data []byte) {
	const sizeBytes = 8
	e, line := entry{line: 1}, 0
	flush := func() {
		if e.wall != 0 || e.monotonic != 0 || e.text.bytes != nil {
			s.keep(e)
		}
		e = entry{line: line + 1}
	}
	for records := 0; len(data) > 0 && records < maxRecords; {
		line++
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		if len(text) == 0 {
			records++
			flush()
			continue
		}
		name, value, plain := bytes.Cut(text, []byte("="))
		if !plain {
			if len(data) < sizeBytes {
				s.unread(line, len(data), "the size of a field is cut")
				return
			}
			var size uint64
			for i := range sizeBytes {
				size |= uint64(data[i]) << (8 * i)
			}
			data = data[sizeBytes:]
			if size > uint64(len(data)) {
				s.unread(line, len(data), "a field of %d bytes is cut", size)
				return
			}
			value, data = data[:size], bytes.TrimPrefix(data[size:], []byte("\n"))
		}
		if len(name) <= maxLine {
			e.set(name, rawText{bytes: value[:min(len(value), maxLine)]})
		}
	}
	flush()
}

// readEntries chooses the boot, and reads its records in their order.
func (r *Records) readEntries(entries []entry, boot string) {
	if len(entries) == 0 {
		return
	}
	r.findBoots(entries)
	chosen := r.choose(boot)
	kept := entries[:0]
	for _, e := range entries {
		if string(e.boot) == chosen {
			kept = append(kept, e)
		} else {
			e.sink.others++
		}
	}
	slices.SortStableFunc(kept, func(a, b entry) int { return cmp.Compare(a.monotonic, b.monotonic) })
	r.Boot = chosen
	units := make(starts)
	for i := range kept {
		e := &kept[i]
		if i > 0 && e.same(&kept[i-1]) {
			continue // the journal of a unit beside the one of all
		}
		if r.Host == "" && len(e.host) > 0 {
			r.Host = Clean(string(e.host))
		}
		if i == 0 || i == len(kept)-1 || kept[i-1].wall-kept[i-1].monotonic != e.wall-e.monotonic {
			e.sink.pair(e.monotonic, e.wall, 1)
		}
		e.sink.message(e, units)
	}
	r.addStarts(units)
}

// same reports whether two entries are the same record of the journal.
func (e *entry) same(other *entry) bool {
	return e.monotonic == other.monotonic && e.wall == other.wall && bytes.Equal(e.about, other.about) && bytes.Equal(e.messageID, other.messageID) &&
		bytes.Equal(e.text.bytes, other.text.bytes)
}

// findBoots lists the boots of the entries, by their first record.
func (r *Records) findBoots(entries []entry) {
	at := make(map[string]int)
	for i := range entries {
		e := &entries[i]
		n, known := at[string(e.boot)]
		if !known {
			n = len(r.Boots)
			at[string(e.boot)] = n
			r.Boots = append(r.Boots, Boot{ID: string(e.boot), First: e.wall, Last: e.wall})
		}
		b := &r.Boots[n]
		b.First, b.Last = min(b.First, e.wall), max(b.Last, e.wall)
	}
	slices.SortStableFunc(r.Boots, func(a, b Boot) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.ID, b.ID)) })
}

// choose returns the ID of the boot that is wanted, or of the boot whose units systemd has described, or of the newest one.
func (r *Records) choose(wanted string) string {
	for _, id := range []string{plainID(wanted), r.Boot} {
		for _, b := range slices.Backward(r.Boots) {
			if id != "" && strings.HasPrefix(b.ID, id) {
				return b.ID
			}
		}
	}
	return r.Boots[len(r.Boots)-1].ID
}

// plainID is a boot ID without the hyphens that /proc/sys/kernel/random/boot_id has.
func plainID(id string) string { return strings.ReplaceAll(strings.TrimSpace(id), "-", "") }

var errNotObject = errors.New("the line is not a JSON object, or it is cut")
