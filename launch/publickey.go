package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// PublicKey is who may log in, in the form of authorized_keys. It is no secret, but it says who somebody is: what is made for people, or
// kept, has its fingerprint alone.
type PublicKey string

// keyBegin is how the base64 of a key begins: the length of its algorithm's name is below 2^16 (RFC 4253, 6.6).
const keyBegin = "AAAA"

// String is the fingerprint of the key as "ssh-keygen -l" shows it, and of a text that is no key the digest of the text.
func (k PublicKey) String() string {
	if k == "" {
		return ""
	}
	blob := []byte(k)
	for field := range strings.FieldsSeq(string(k)) { // options may stand before the algorithm, and a comment after the key
		if data, err := base64.StdEncoding.DecodeString(field); err == nil && strings.HasPrefix(field, keyBegin) {
			blob = data
			break
		}
	}
	sum := sha256.Sum256(blob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// MarshalText is the fingerprint.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
