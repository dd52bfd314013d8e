package record

import (
	"fmt"
	"strings"
	"time"
)

// customScript is the span of the extension's run.
const customScript = "custom script extension"

// parseHandler reads the log of the custom script extension, which is in logfmt:
//
//	time=2022-10-10T03:13:06Z version=v2.1.6/git@ad1546c-dirty operation=enable seq=1 event="executing command" output=/var/lib/...
func parseHandler(s *sink, data []byte) {
	s.lines(data, func(number int, line []byte) {
		if !s.handlerLine(Moment{}, string(line)) {
			s.unread(number, len(line), "not a record of the extension's: no time, or it is cut")
		}
	})
	s.endHandler()
}

// handlerLine reads a record of the extension's handler, and reports whether it is one. The record's own time has often one second of
// resolution; the time of the log in which the record is may be better.
func (s *sink) handlerLine(at Moment, line string) bool {
	fields := logfmt(line)
	t, err := time.Parse(time.RFC3339Nano, fields["time"])
	if err != nil || t.Year() < 1970 {
		return false
	}
	if !at.IsMonotonic() {
		accuracy := int64(1000)
		if !strings.Contains(fields["time"], ".") {
			accuracy = 1e6
		}
		at = Wall(t.UnixMicro(), accuracy)
	}
	detail := fmt.Sprintf("version %s, operation %s, sequence %s", fields["version"], fields["operation"], fields["seq"])
	for _, key := range []string{"path", "output", "error"} {
		if fields[key] != "" {
			detail += ", " + key + " " + fields[key]
		}
	}
	s.event(Event{Stage: Extension, Name: Clean("custom script: " + fields["event"]), At: at, Detail: Clean(detail)})
	return true
}

// endHandler adds a span for each operation and sequence: from its first record to its last.
func (s *sink) endHandler() {
	type run struct{ first, last Event }
	var order []string
	runs := make(map[string]*run)
	for _, e := range s.Events {
		if e.Document != s.document || e.Stage != Extension {
			continue
		}
		key, _, _ := strings.Cut(e.Detail, ", output")
		key, _, _ = strings.Cut(key, ", path")
		key, _, _ = strings.Cut(key, ", error")
		if runs[key] == nil {
			runs[key] = &run{first: e}
			order = append(order, key)
		}
		runs[key].last = e
	}
	for _, key := range order {
		r := runs[key]
		s.span(Span{Stage: Extension, Name: customScript, Begin: r.first.At, End: r.last.At, Detail: key, By: "guest agent",
			Failed: strings.Contains(r.last.Name, "failed")})
	}
}

// logfmt splits a line of KEY=VALUE, with values in quotes. Of a repeated key the first value counts.
func logfmt(line string) map[string]string {
	fields := make(map[string]string)
	for line != "" {
		line = strings.TrimLeft(line, " \t")
		key, rest, found := strings.Cut(line, "=")
		if !found {
			break
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for end < len(rest) && rest[end] != '"' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			value = strings.ReplaceAll(rest[1:min(end, len(rest))], `\"`, `"`)
			line = rest[min(end+1, len(rest)):]
		} else {
			value, line, _ = strings.Cut(rest, " ")
		}
		if _, known := fields[key]; !known && len(fields) < maxUnread {
			fields[key] = value
		}
	}
	return fields
}
