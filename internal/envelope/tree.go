package envelope

import "strings"

// admit counts a text of which a tree is to be made, and refuses what would make too large a tree.
func (o *opener) admit(l *layer, content []byte) error {
	if o.parsed += len(content); o.parsed > maxParsed {
		return l.beyond("bytes of configs", maxParsed)
	}
	if o.signs += signs(content); o.signs > maxSigns {
		return l.beyond("signs of structure", maxSigns)
	}
	return nil
}

// signs counts what structures YAML or JSON. Each value but the first has one before it, or shares it with one
// other; and each comment is one.
func signs(content []byte) int {
	n := 0
	for i, c := range content {
		switch c {
		case ',', ':', '[', '{', '#':
			n++
		case '-', '?':
			if i+1 == len(content) || strings.IndexByte(whiteSpace, content[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}
