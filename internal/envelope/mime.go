package envelope

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"slices"
	"strings"
)

// mediaTypes are the types of MIME parts that are opened, with the kinds that they declare; unknown means that the
// content decides. All others are left to cloud-init. Source, except for the contract's types: cloud-init,
// cloudinit/handlers/__init__.py and cloudinit/user_data.py.
var mediaTypes = map[string]kind{
	"text/cloud-config":   cloudConfig,
	"text/cloud-boothook": script,

	"application/vnd.slipway.nodeconfig+json": contractText,
	"application/vnd.slipway.nodeconfig+yaml": contractText,
	"text/x-slipway-config":                   contractText,

	"text/plain":                    unknown,
	"text/x-not-multipart":          unknown,
	"text/x-shellscript":            unknown,
	"application/octet-stream":      unknown,
	"application/gzip":              unknown,
	"application/gzip-compressed":   unknown,
	"application/gzipped":           unknown,
	"application/x-compress":        unknown,
	"application/x-compressed":      unknown,
	"application/x-gunzip":          unknown,
	"application/x-gzip":            unknown,
	"application/x-gzip-compressed": unknown,
	"application/zstd":              unknown,
}

// defaultMediaType is the type of a part without one (RFC 2045, section 5.2).
const defaultMediaType = "text/plain"

// otherPart is what is reported of a part of another type. The type itself is user data, and not shown.
const otherPart = "a MIME part of another type"

// otherParts are the types that a reader may take for a contract's, with what is reported of their parts. Source: nodeadm's
// documentation, "User data".
var otherParts = map[string]string{
	"application/node.eks.aws": "a NodeConfig of EKS's nodeadm, which this version does not read",
}

// message calls leaf for each part of a MIME message that is not a multipart.
func (o *opener) message(l layer, leaf func(l layer, mediaType string, h header) error) error {
	h := readHeader(afterEnvelope(trimmed(l.data)))
	l = l.in("mime", nil)
	if h.end == endEarly {
		return l.broken("the header does not end")
	}
	return o.entity(l, h, leaf)
}

// entity is message for a message, or a part of one, whose header has been read.
func (o *opener) entity(l layer, h header, leaf func(l layer, mediaType string, h header) error) error {
	name, members, err := o.split(&l, h)
	if err != nil {
		return err
	}
	if !isMultipart(name) {
		return leaf(l, name, h)
	}
	for i, member := range members {
		l, h := l.member(i+1, member)
		if err := o.entity(l, h, leaf); err != nil {
			return err
		}
	}
	return nil
}

// split returns the media type of a message, or of a part of one, and its parts if it is a multipart.
func (o *opener) split(l *layer, h header) (name string, members [][]byte, err error) {
	if err := l.nested(); err != nil {
		return "", nil, err
	}
	if h.end == endTooLong {
		return "", nil, l.beyond("bytes of one header", maxHeader)
	}
	if len(h.contentType) > maxContentType {
		return "", nil, l.beyond("bytes of one Content-Type", maxContentType)
	}
	name, params := mediaType(h.contentType)
	if !isMultipart(name) {
		return name, nil, nil
	}
	boundary := params["boundary"]
	if boundary == "" {
		return "", nil, l.broken("the multipart type has no boundary")
	}
	members, closed, more := splitParts(h.body, boundary, maxParts-o.parts)
	if more {
		return "", nil, l.beyond("parts", maxParts)
	}
	if !closed {
		return "", nil, l.broken("the multipart body does not end")
	}
	o.parts += len(members)
	return name, members, nil
}

// member is a part of a multipart body. If it is a multipart again, it is another wrapping.
func (l layer) member(number int, part []byte) (layer, header) {
	l.trail = append(slices.Clip(l.trail[:len(l.trail)-1]), fmt.Sprintf("mime part %d", number))
	h := readHeader(part)
	if isMultipart(string(h.contentType)) {
		l = l.in("mime", nil)
	}
	return l, h
}

// isMultipart reports whether a media type is a multipart.
func isMultipart(mediaType string) bool {
	const prefix = "multipart/"
	return len(mediaType) >= len(prefix) && strings.EqualFold(mediaType[:len(prefix)], prefix)
}

// part opens a part that is not a multipart.
func (o *opener) part(l layer, name string, h header) error {
	declared, known := mediaTypes[name]
	if !known {
		o.see(cmp.Or(otherParts[name], otherPart))
		return nil
	}
	data, err := o.transferred(&l, h)
	if err != nil {
		return err
	}
	l.data, l.declared = data, declared
	return o.open(l)
}

// transferred decodes a part's body (RFC 2045, section 6).
func (o *opener) transferred(l *layer, h header) ([]byte, error) {
	switch strings.ToLower(string(h.encoding)) {
	case "", "7bit", "8bit", "binary":
		return h.body, nil
	case "base64":
		return o.decode64(l, h.body)
	case "quoted-printable":
		data, err := o.inflater.readAll(quotedprintable.NewReader(bytes.NewReader(h.body)), len(h.body))
		if err != nil {
			return nil, l.broken("the quoted-printable text cannot be decoded") // the error itself shows some of the text
		}
		return data, o.spend(l, len(data))
	}
	return nil, l.broken("the transfer encoding is unknown")
}

// mediaType parses a Content-Type. If its parameters are invalid, it returns only the name.
func mediaType(value []byte) (name string, params map[string]string) {
	if len(value) == 0 {
		return defaultMediaType, nil
	}
	name, params, err := mime.ParseMediaType(string(value))
	if err != nil {
		name, _, _ = strings.Cut(string(value), ";")
		return strings.ToLower(strings.TrimSpace(name)), nil
	}
	return name, params
}
