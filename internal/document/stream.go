package document

import "bytes"

// Stream takes a stream of YAML documents apart. A line that begins with --- is a marker wherever it is (YAML 1.2.2, 9.1.4).
// Each document has as many empty lines before it as are before it in the stream, so that lines are counted as people do.
func Stream(data []byte) [][]byte {
	var all [][]byte
	var part []byte
	line, said := 0, false
	for text := range bytes.Lines(data) {
		line++
		marker := bytes.TrimRight(text, " \t\r\n")
		if bytes.Equal(marker, []byte("---")) || bytes.Equal(marker, []byte("...")) {
			if said {
				all = append(all, part)
			}
			part, said = bytes.Repeat([]byte("\n"), line), false
			continue
		}
		part = append(part, text...)
		said = said || len(marker) > 0 && bytes.TrimLeft(marker, " ")[0] != '#'
	}
	if said {
		all = append(all, part)
	}
	return all
}
