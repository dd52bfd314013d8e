// Package signature verifies the signatures that "ssh-keygen -Y sign" makes with an Ed25519 key, by a list of allowed signers.
//
// The format is OpenSSH's SSHSIG (PROTOCOL.sshsig), the list is that of ssh-keygen(1), "ALLOWED SIGNERS". The package reads bytes and does
// no I/O. It signs nothing: people sign with ssh-keygen, whose keys can be in hardware.
package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxBytes limits a signature and a list of signers.
const MaxBytes = 64 << 10

const (
	begin   = "-----BEGIN SSH SIGNATURE-----"
	end     = "-----END SSH SIGNATURE-----"
	magic   = "SSHSIG"
	keyType = "ssh-ed25519"
)

// Signer is a key that may sign.
type Signer struct {
	// Principals are the names of its owner, with commas between.
	Principals string
	// Namespaces are the purposes for which the key may sign. If nil, it may for all.
	Namespaces []string
	key        ed25519.PublicKey
}

// ParseSigners reads a list of allowed signers: in each line names, options, and a key. Keys of other kinds and options other than
// namespaces= are errors, because to ignore them could allow more than the list does.
func ParseSigners(list []byte) ([]Signer, error) {
	if len(list) > MaxBytes {
		return nil, fmt.Errorf("the list of signers is larger than %d bytes", MaxBytes)
	}
	var all []Signer
	number := 0
	for line := range strings.Lines(string(list)) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		s, err := parseSigner(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("line %d of the list of signers: %w", number, err)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("the list of signers has no key: want lines such as \"images@example.com ssh-ed25519 AAAA...\"")
	}
	return all, nil
}

func parseSigner(fields []string) (s Signer, err error) {
	if len(fields) >= 4 && fields[1] != keyType {
		value, is := strings.CutPrefix(fields[1], "namespaces=")
		if !is || len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return s, fmt.Errorf("the option %q is not supported: want namespaces=\"...\" or none", fields[1])
		}
		s.Namespaces = strings.Split(value[1:len(value)-1], ",")
		fields = append(fields[:1:1], fields[2:]...)
	}
	if len(fields) < 3 || fields[1] != keyType {
		return s, fmt.Errorf("want a name, %s and a key", keyType)
	}
	s.Principals = fields[0]
	blob, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil {
		return s, fmt.Errorf("the key: %w", err)
	}
	s.key, err = parseKey(blob)
	return s, err
}

// Verify reports who has signed a message for a purpose, by the names in the list.
func Verify(message, armored []byte, namespace string, signers []Signer) (principals string, err error) {
	key, err := made(message, armored, namespace)
	if err != nil {
		return "", err
	}
	for _, signer := range signers {
		if !signer.key.Equal(key) {
			continue
		}
		if signer.Namespaces != nil && !slices.Contains(signer.Namespaces, namespace) {
			return "", fmt.Errorf("the key of %s may not sign for %q", signer.Principals, namespace)
		}
		return signer.Principals, nil
	}
	return "", errors.New("the signature is right, and its key is not in the list of signers")
}

// Fits reports why a signature is not one of a message, for a purpose. It does not report whose it is: anyone can have made it.
func Fits(message, armored []byte, namespace string) error {
	_, err := made(message, armored, namespace)
	return err
}

// made returns the key that has made a message's signature.
func made(message, armored []byte, namespace string) (ed25519.PublicKey, error) {
	s, err := parse(armored)
	if err != nil {
		return nil, err
	}
	if s.namespace != namespace {
		return nil, fmt.Errorf("the signature is for the namespace %q, not %q: sign with ssh-keygen -Y sign -n %s", s.namespace, namespace, namespace)
	}
	var digest []byte
	switch s.hash {
	case "sha512":
		sum := sha512.Sum512(message)
		digest = sum[:]
	case "sha256":
		sum := sha256.Sum256(message)
		digest = sum[:]
	default:
		return nil, fmt.Errorf("the signature has the hash %q: want sha512 or sha256", s.hash)
	}
	signed := []byte(magic)
	for _, part := range [][]byte{[]byte(s.namespace), s.reserved, []byte(s.hash), digest} {
		signed = binary.BigEndian.AppendUint32(signed, uint32(len(part)))
		signed = append(signed, part...)
	}
	if !ed25519.Verify(s.key, signed, s.signature) {
		return nil, errors.New("the signature is not one of these bytes")
	}
	return s.key, nil
}

// blob is a signature.
type blob struct {
	key             ed25519.PublicKey
	namespace, hash string
	reserved        []byte
	signature       []byte
}

// parse reads an armored signature.
func parse(armored []byte) (*blob, error) {
	if len(armored) > MaxBytes {
		return nil, fmt.Errorf("the signature is larger than %d bytes", MaxBytes)
	}
	text := strings.TrimSpace(string(armored))
	body, isBegin := strings.CutPrefix(text, begin)
	body, isEnd := strings.CutSuffix(body, end)
	if !isBegin || !isEnd {
		return nil, errors.New("it is no signature of ssh-keygen -Y sign")
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		return nil, fmt.Errorf("the signature: %w", err)
	}
	r := reader{data: data}
	if !bytes.HasPrefix(r.data, []byte(magic)) || len(r.data) < len(magic)+4 {
		return nil, errors.New("it is no signature of ssh-keygen -Y sign")
	}
	version := binary.BigEndian.Uint32(r.data[len(magic):])
	if r.data = r.data[len(magic)+4:]; version != 1 {
		return nil, fmt.Errorf("the signature has the version %d: want 1", version)
	}
	key, namespace, reserved, hash := r.text(), r.text(), r.text(), r.text()
	inner := reader{data: r.text()}
	kind, signature := inner.text(), inner.text()
	switch {
	case r.short || inner.short || len(r.data)+len(inner.data) > 0:
		return nil, errors.New("the signature is not complete, or has more than a signature")
	case string(kind) != keyType:
		return nil, fmt.Errorf("the signature is of the kind %q: want %s", kind, keyType)
	case len(signature) != ed25519.SignatureSize:
		return nil, errors.New("the signature has a wrong size")
	case len(namespace) == 0:
		return nil, errors.New("the signature has no namespace")
	}
	public, err := parseKey(key)
	return &blob{public, string(namespace), string(hash), reserved, signature}, err
}

func parseKey(data []byte) (ed25519.PublicKey, error) {
	r := reader{data: data}
	kind, key := r.text(), r.text()
	if r.short || len(r.data) > 0 || string(kind) != keyType || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("the key is not one of the kind %s", keyType)
	}
	return ed25519.PublicKey(key), nil
}

// reader reads the texts of SSH's format, RFC 4251, section 5.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) text() []byte {
	if len(r.data) < 4 || uint64(binary.BigEndian.Uint32(r.data)) > uint64(len(r.data)-4) {
		r.short, r.data = true, nil
		return nil
	}
	n := binary.BigEndian.Uint32(r.data)
	text := r.data[4 : 4+n]
	r.data = r.data[4+n:]
	return text
}
