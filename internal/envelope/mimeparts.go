package envelope

import (
	"mime"
)

// Part is a part of a MIME document, decoded.
type Part struct {
	// Type is its media type, in small letters, and Name its file name; empty where it has none.
	Type, Name string
	Content    []byte
}

// IsMIME reports whether user data is a MIME document.
func IsMIME(userData []byte) bool { return isMessage(trimmed(userData)) }

// TakeApart returns the parts of a MIME document, in their order. A part that is of several parts is taken apart itself. The errors are a
// [*LimitError] or a [*BrokenError].
func TakeApart(userData []byte) ([]Part, error) {
	l := layer{data: userData}
	if len(userData) > maxInput {
		return nil, l.beyond("bytes", maxInput)
	}
	h := readHeader(afterEnvelope(trimmed(userData)))
	l = l.in("mime", nil)
	if h.end == endEarly {
		return nil, l.broken("the header does not end")
	}
	a := apart{}
	err := a.entity(l, h)
	return a.taken, err
}

// apart takes a MIME document apart.
type apart struct {
	opener
	taken []Part
}

func (a *apart) entity(l layer, h header) error {
	name, members, err := a.split(&l, h)
	if err != nil {
		return err
	}
	for i, member := range members {
		l, h := l.member(i+1, member)
		if err := a.entity(l, h); err != nil {
			return err
		}
	}
	if isMultipart(name) {
		return nil
	}
	content, err := a.transferred(&l, h)
	if err != nil {
		return err
	}
	_, params, _ := mime.ParseMediaType(string(h.disposition))
	a.taken = append(a.taken, Part{name, params["filename"], content})
	return nil
}
