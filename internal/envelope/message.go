package envelope

import "bytes"

// header is what is used of the header of a MIME message, or of one of its parts.
type header struct {
	// contentType and encoding are the fields' values as they stand, empty where they are missing. Of a
	// field that is given twice the first counts, as it does to cloud-init.
	contentType, encoding, disposition []byte
	// mime says that there was a field by which a message is known.
	mime bool
	// body is what follows the header.
	body []byte
	end  headerEnd
}

// headerEnd is how a header ends.
type headerEnd uint8

const (
	endBlank    headerEnd = iota // in a blank line, as it should
	endNoHeader                  // in a line that is none of a header's, which is the body's first
	endEarly                     // with the data
	endTooLong                   // not within maxHeader
)

// isMessage reports whether text is a MIME message: fields of a header to its end, and one of those by which
// it is known among them.
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

// readHeader reads the header at the beginning of data (RFC 5322, section 2.2), whose lines end in LF or
// CRLF.
func readHeader(data []byte) header {
	h := header{end: endEarly}
	var fold *[]byte // the value that a line which begins with white space goes on with
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

// field takes a field, and returns where its value is kept, nil where it is not.
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
	*kept = bytes.Clone(value) // a line that goes on with it is appended
	return kept
}

// isFieldName reports whether a line of a header may begin with name: visible ASCII (RFC 5322, section 2.2).
func isFieldName(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// splitParts returns the parts of a multipart body (RFC 2046, section 5.1.1), at most limit, and how it
// ended: closed is false where the last boundary is missing, more is true where there are more parts.
func splitParts(body []byte, boundary string, limit int) (parts [][]byte, closed, more bool) {
	delimiter := []byte("--" + boundary)
	begin, at := -1, 0 // begin is where a part begins, -1 before the first
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

// withoutLineEnd cuts the line end off that belongs to the boundary after it.
func withoutLineEnd(part []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
}
