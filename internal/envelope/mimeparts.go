package envelope

import (
	"mime"
)

// Part is a decoded part of a MIME document.
type Part struct {
	// Type is its media type, in small letters, and Name its file name. Both may be empty.
	Type, Name string
	Content    []byte
}

// IsMIME reports whether user data is a MIME document.
func IsMIME(userData []byte) bool { return isMessage(trimmed(userData)) }

// TakeApart returns the parts of a MIME document, in order. A multipart within it is taken apart, too. The errors are a
// [*LimitError] or a [*BrokenError].
func TakeApart(userData []byte) ([]Part, error) {
	l := layer{data: userData}
	if len(userData) > maxInput {
		return nil, l.beyond("bytes", maxInput)
	}
	var o opener
	var parts []Part
	err := o.message(l, func(l layer, name string, h header) error {
		content, err := o.transferred(&l, h)
		if err != nil {
			return err
		}
		_, params, _ := mime.ParseMediaType(string(h.disposition))
		parts = append(parts, Part{name, params["filename"], content})
		return nil
	})
	return parts, err
}
