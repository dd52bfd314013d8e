package record

import (
	"bytes"
	"fmt"
)

// Document is a named text from a machine.
type Document struct {
	// Name is a path with slashes: a file's path on the machine, or its name in a bundle.
	Name string
	Data []byte
}

// The limits of what is read. A larger input is cut or refused, and the result says so.
const (
	// maxDocuments and maxDocument limit the number of documents and the size of each.
	maxDocuments = 4096
	maxDocument  = 64 << 20
	// maxLine is the longest line that is parsed.
	maxLine = 64 << 10
	// maxRecords limits the records of one document.
	maxRecords = 200_000
	// maxUnread is how many unread parts are named, and maxUnreadOf how many of one document; the others are counted.
	maxUnread, maxUnreadOf = 200, 20
	// maxText limits a text that a record keeps.
	maxText = 300
)

// sink takes the records of one document.
type sink struct {
	*Records
	document string
	// count is the number of its records, others that of records of other boots, and missed that of the parts that were not read.
	count, others, missed int
	// entries are the journals' records, which are read after all documents.
	entries *[]entry
}

func (s *sink) span(span Span) {
	span.Document = s.document
	s.count++
	s.Spans = append(s.Spans, span)
}

func (s *sink) event(event Event) {
	event.Document = s.document
	s.count++
	s.Events = append(s.Events, event)
}

func (s *sink) file(file File) {
	file.Document = s.document
	s.count++
	s.Files = append(s.Files, file)
}

func (s *sink) run(run Run) {
	run.Document = s.document
	s.count++
	s.Runs = append(s.Runs, run)
}

func (s *sink) fact(stage Stage, format string, args ...any) {
	s.count++
	s.Facts = append(s.Facts, Fact{Stage: stage, Text: fmt.Sprintf(format, args...), Document: s.document})
}

// factAt records a sentence about a moment.
func (s *sink) factAt(at Moment, stage Stage, format string, args ...any) {
	s.fact(stage, format, args...)
	s.Facts[len(s.Facts)-1].At = at
}

// plan records what the machine is made from.
func (s *sink) plan(stage Stage, format string, args ...any) {
	s.fact(stage, format, args...)
	s.Facts[len(s.Facts)-1].Planned = true
}

// pair records a moment on both clocks.
func (s *sink) pair(monotonic, wall, accuracy int64) {
	s.Pairs = append(s.Pairs, Pair{Monotonic: monotonic, Wall: wall, Accuracy: accuracy, Document: s.document})
}

// unread names a part of the document that could not be read.
func (s *sink) unread(line, size int, format string, args ...any) {
	if s.missed++; s.missed > maxUnreadOf || len(s.Unread) >= maxUnread {
		s.Omitted++
		return
	}
	s.Unread = append(s.Unread, Unread{Document: s.document, Line: line, Bytes: size, Reason: Clean(fmt.Sprintf(format, args...))})
}

// lines calls f for each line of a text, without its end. It passes over lines that are too long or not text, and names them.
func (s *sink) lines(data []byte, f func(number int, line []byte)) {
	number, binary, binaryAt, binaryBytes := 0, 0, 0, 0
	for len(data) > 0 {
		number++
		end := bytes.IndexByte(data, '\n')
		line := data
		if end < 0 {
			data = nil
		} else {
			line, data = data[:end], data[end+1:]
		}
		if number > maxRecords {
			s.unread(number, len(line)+len(data), "the document has more than %d lines", maxRecords)
			return
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) == 0:
		case len(line) > maxLine:
			s.unread(number, len(line), "the line is longer than %d bytes", maxLine)
		case bytes.IndexByte(line, 0) >= 0:
			if binary++; binary == 1 {
				binaryAt = number
			}
			binaryBytes += len(line)
		default:
			f(number, line)
		}
	}
	if binary > 0 {
		s.unread(binaryAt, binaryBytes, "not text: zero bytes in %d lines, the first of which is this one", binary)
	}
}
