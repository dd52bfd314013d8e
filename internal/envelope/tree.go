package envelope

import "github.com/slipway-dev/slipway/internal/document"

// admit counts a text from which a tree will be made, and refuses what would make too large a tree.
func (o *opener) admit(l *layer, content []byte) error {
	if o.parsed += len(content); o.parsed > maxParsed {
		return l.beyond("bytes of configs", maxParsed)
	}
	if o.signs += document.Signs(content); o.signs > maxSigns {
		return l.beyond("structural characters", maxSigns)
	}
	return nil
}
