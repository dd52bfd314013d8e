package envelope

import (
	"bytes"
	"encoding/base64"

	"github.com/slipway-dev/slipway/internal/document"
)

// minBase64 is how long text must be to be taken for base64 where nothing says that it is: shorter text
// holds no contract, and may be a word.
const minBase64 = 16

// signs64 are the signs of base64, in both alphabets of RFC 4648 (sections 4 and 5).
var signs64 = [256]bool{'+': true, '/': true, '-': true, '_': true}

func init() {
	for _, span := range []string{"AZ", "az", "09"} {
		for c := int(span[0]); c <= int(span[1]); c++ {
			signs64[c] = true
		}
	}
}

// isBase64 tells whether text is base64 and nothing else: its signs and line ends, then padding.
func isBase64(content []byte) bool {
	content = bytes.TrimRight(content, whiteSpace+"=")
	if len(content) < minBase64 {
		return false
	}
	for _, c := range content {
		if !signs64[c] && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// base64 opens what is in base64, where only its content says that it is.
func (o *opener) base64(l layer) error {
	data, err := o.decode64(&l, trimmed(l.data))
	if err != nil {
		return err
	}
	return o.open(l.in("base64", data))
}

// decode64 decodes base64 in either alphabet, with or without its padding, and with white space anywhere:
// YAML's folding and MIME's lines put it there.
func (o *opener) decode64(l *layer, encoded []byte) ([]byte, error) {
	signs := make([]byte, 0, len(encoded))
	padding := 0
	for _, c := range encoded {
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '=':
			padding++
		case padding > 0 || !signs64[c]:
			return nil, l.broken("the base64 has a sign that is none of its own")
		case c == '-':
			signs = append(signs, '+')
		case c == '_':
			signs = append(signs, '/')
		default:
			signs = append(signs, c)
		}
	}
	if padding > 2 || len(signs)%4 == 1 {
		return nil, l.broken("the base64 is cut short, or has signs too many")
	}
	size := base64.RawStdEncoding.DecodedLen(len(signs))
	if size > document.MaxBytes {
		return nil, l.beyond("bytes in base64", document.MaxBytes)
	}
	if err := o.spend(l, size); err != nil {
		return nil, err
	}
	decoded := make([]byte, size)
	if _, err := base64.RawStdEncoding.Decode(decoded, signs); err != nil {
		return nil, l.broken("the base64 cannot be decoded") // the error itself tells where
	}
	return decoded, nil
}
