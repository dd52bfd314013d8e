package envelope

import "bytes"

// header is the used part of the header of a MIME message, or of one of its parts.
type header struct {
	// contentType and encoding are the fields' values, unchanged. They are empty if missing. If a field is given twice,
	// the first counts, as in cloud-init.
	contentType, encoding, disposition []byte
	// mime reports that there was a field that identifies a MIME message.
	mime bool
	// body is the data after the header.
	body []byte
	end  headerEnd
}

// headerEnd is how a header ends.
type headerEnd uint8

const (
	endBlank    headerEnd = iota // with a blank line, as it should
	endNoHeader                  // with a line that is not a header's: the first of the body
	endEarly                     // with the end of the data
	endTooLong                   // not within maxHeader
)

// isMessage reports whether text is a MIME message: a complete header with one of the identifying fields.
func isMessage(content []byte) bool {
	h := readHeader(afterEnvelope(content))
	return h.mime && h.end != endNoHeader
}

// afterEnvelope skips the "From " line that mail programs write before a message (RFC 4155).
func afterEnvelope(content []byte) []byte {
	if bytes.HasPrefix(content, []byte("From ")) {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	return content
}

// readHeader reads the header at the beginning of data (RFC 5322, section 2.2). Lines end in LF or CRLF.
func readHeader(data []byte) header {
	h := header{end: endEarly}
	var fold *[]byte // the value that a line with leading white space continues
	at := 0
	for line := range bytes.Lines(data) {
		h.body = data[at:]
		if at += len(line); at > maxHeader {
			h.end = endTooLong
			return h
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			h.body, h.end = data[at:], endBlank
			return h
		}
		if line[0] == ' ' || line[0] == '\t' {
			if fold != nil {
				*fold = append(append(*fold, ' '), bytes.TrimSpace(line)...)
			}
			continue
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || !isFieldName(name) {
			h.end = endNoHeader
			return h
		}
		fold = h.field(name, bytes.TrimSpace(value))
	}
	h.body = nil
	return h
}

// field reads a field, and returns where its value is kept, or nil.
func (h *header) field(name, value []byte) *[]byte {
	var kept *[]byte
	switch {
	case bytes.EqualFold(name, []byte("Content-Type")):
		h.mime, kept = true, &h.contentType
	case bytes.EqualFold(name, []byte("Content-Transfer-Encoding")):
		kept = &h.encoding
	case bytes.EqualFold(name, []byte("Content-Disposition")):
		kept = &h.disposition
	case bytes.EqualFold(name, []byte("MIME-Version")):
		h.mime = true
	}
	if kept == nil || len(*kept) > 0 {
		return nil
	}
	*kept = bytes.Clone(value) // a continuation line is appended to it
	return kept
}

// isFieldName reports whether name is a valid field name: visible ASCII (RFC 5322, section 2.2).
func isFieldName(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// splitParts returns the parts of a multipart body (RFC 2046, section 5.1.1), at most limit. closed is false if the
// last boundary is missing, more is true if there are more parts.
func splitParts(body []byte, boundary string, limit int) (parts [][]byte, closed, more bool) {
	delimiter := []byte("--" + boundary)
	begin, at := -1, 0 // begin is the offset of a part, -1 before the first
	for line := range bytes.Lines(body) {
		start := at
		at += len(line)
		rest, found := bytes.CutPrefix(line, delimiter)
		if !found {
			continue
		}
		rest = bytes.TrimRight(rest, " \t\r\n")
		last := string(rest) == "--"
		if !last && len(rest) > 0 {
			continue
		}
		if begin >= 0 {
			if len(parts) == limit {
				return parts, false, true
			}
			parts = append(parts, withoutLineEnd(body[begin:start]))
		}
		if last {
			return parts, true, false
		}
		begin = at
	}
	return parts, false, false
}

// withoutLineEnd removes the line end that belongs to the next boundary.
func withoutLineEnd(part []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
}
