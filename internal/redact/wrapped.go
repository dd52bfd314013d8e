package redact

import "bytes"

// minWrapped and maxWrapped are the lengths of lines of wrapped base64, besides the last one. Programs wrap at 60 to 76 characters
// (RFC 2045, RFC 7468, base64(1)).
const minWrapped, maxWrapped = 40, 200

// maxJoined limits the memory for wrapped base64. A longer one is searched in pieces that overlap by joinedOverlap.
const maxJoined, joinedOverlap = 1 << 20, 64 << 10

// wrapped appends the known secrets in base64 that is wrapped into lines, which may be indented: a line break is in the middle of
// such a secret.
func (k *Known) wrapped(all []span, data []byte) []span {
	var joined []byte
	var places []int // of each joined byte
	flush := func(keep int) {
		k.matcher.find(joined, func(at, size, number int) int {
			all = append(all, span{places[at], places[at+size-1] + 1, number})
			return size
		})
		kept := copy(joined, joined[len(joined)-keep:])
		copy(places, places[len(places)-keep:])
		joined, places = joined[:kept], places[:kept]
	}
	for start := 0; start < len(data); {
		end := lineEnd(data, start)
		line := bytes.TrimLeft(data[start:end], " \t")
		at := end - len(line)
		line = bytes.TrimRight(line, "\r\n")
		whole := isBase64(line)
		if whole {
			joined = append(joined, line...)
			for i := range line {
				places = append(places, at+i)
			}
		}
		switch {
		case len(joined) > maxJoined:
			flush(joinedOverlap)
		case len(joined) > 0 && (len(line) < minWrapped || !whole):
			flush(0)
		}
		start = end
	}
	flush(0)
	return all
}

// isBase64 reports whether a line may be one of wrapped base64. Most lines have a blank near their beginning.
func isBase64(line []byte) bool {
	for _, b := range line[:min(len(line), maxWrapped)] {
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/' || b == '=' || b == '-' || b == '_') {
			return false
		}
	}
	return len(line) > 0 && len(line) <= maxWrapped
}
