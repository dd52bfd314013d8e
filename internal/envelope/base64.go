package envelope

import (
	"bytes"
	"encoding/base64"

	"github.com/slipway-dev/slipway/internal/document"
)

// minBase64 is the minimum length of text that counts as base64 without being declared: shorter text cannot hold a
// contract, and may be a word.
const minBase64 = 16

// alphabets are the characters of base64, in both alphabets of RFC 4648 (sections 4 and 5), and signs64 is the same by
// character.
const alphabets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"

var signs64 = func() (known [256]bool) {
	for _, c := range []byte(alphabets) {
		known[c] = true
	}
	return known
}()

// isBase64 reports whether text is base64 and nothing else: its characters and line ends, then padding.
func isBase64(content []byte) bool {
	content = bytes.TrimRight(content, whiteSpace+"=")
	return len(content) >= minBase64 && len(bytes.TrimLeft(content, alphabets+"\r\n")) == 0
}

// base64 opens data that is recognized as base64 by its content: in either alphabet, with or without padding.
func (o *opener) base64(l layer) error {
	content := bytes.TrimRight(trimmed(l.data), whiteSpace)
	standard := make([]byte, 0, len(content)+2)
	signs := 0
	for _, c := range content {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		if signs64[c] {
			signs++
		}
		standard = append(standard, c)
	}
	if len(content) > 0 && content[len(content)-1] != '=' && signs%4 > 1 {
		standard = append(standard, "=="[signs%4-2:]...)
	}
	data, err := o.decode64(&l, standard)
	if err != nil {
		return err
	}
	return o.open(l.in("base64", data))
}

// decode64 decodes base64 (RFC 4648, section 4), with white space anywhere, which YAML's folding and MIME's lines
// insert. It skips nothing else, and neither adds nor removes padding: another decoder of the same text might decode it
// differently.
func (o *opener) decode64(l *layer, encoded []byte) ([]byte, error) {
	signs := make([]byte, 0, len(encoded))
	padding := 0
	for _, c := range encoded {
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '=':
			padding++
		case padding > 0 || !signs64[c] || c == '-' || c == '_':
			return nil, l.broken("the base64 has a character that is not part of base64")
		default:
			signs = append(signs, c)
		}
	}
	if padding > 2 || (len(signs)+padding)%4 != 0 {
		return nil, l.broken("the base64 is cut short, or has too many characters")
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
		return nil, l.broken("the base64 cannot be decoded") // the error itself has the location
	}
	return decoded, nil
}
