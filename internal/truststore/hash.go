package truststore

import (
	"bytes"
	"crypto/sha1"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// String types without a name in Go.
const (
	tagTeletex   = 20
	tagUniversal = 28
)

// refusedTags are the types that an attribute of a name must not have: OpenSSL does not read such a certificate
// (ASN1_PRINTABLE).
var refusedTags = []int{0, 1, 2, 4, 5, 6, 17, 21, 23, 24, 25, 26, 27}

// subject is the DER of a certificate's subject (RFC 5280, 4.1). It does not parse the rest of the certificate:
// programs trust some that Go's parser refuses.
func subject(certificate []byte) ([]byte, error) {
	var c struct {
		Signed struct {
			Version                                      asn1.RawValue `asn1:"optional,tag:0"`
			Serial, Signature, Issuer, Validity, Subject asn1.RawValue
		}
	}
	_, err := asn1.Unmarshal(certificate, &c)
	if of := c.Signed.Subject; err == nil && (of.Class != asn1.ClassUniversal || of.Tag != asn1.TagSequence) {
		err = errors.New("a subject is a sequence")
	}
	return c.Signed.Subject.Bytes, err
}

// subjectHash is OpenSSL's hash for finding a certificate in a directory (X509_NAME_hash): the first four bytes of the
// SHA-1 of the subject in its canonical form.
func subjectHash(certificate []byte) (uint32, error) {
	name, err := subject(certificate)
	if err != nil {
		return 0, err
	}
	var canonical []byte
	for len(name) > 0 {
		var set asn1.RawValue
		if name, err = asn1.Unmarshal(name, &set); err != nil {
			return 0, err
		}
		entries, err := canonicalEntries(set.Bytes)
		if err != nil {
			return 0, err
		}
		canonical = append(canonical, encoded(asn1.TagSet, true, bytes.Join(entries, nil))...)
	}
	sum := sha1.Sum(canonical)
	return binary.LittleEndian.Uint32(sum[:4]), nil
}

// canonicalEntries are the attributes of one part of a name, in the order of DER sets.
func canonicalEntries(set []byte) ([][]byte, error) {
	var entries [][]byte
	for len(set) > 0 {
		var entry struct{ Kind, Value asn1.RawValue }
		rest, err := asn1.Unmarshal(set, &entry)
		if err != nil {
			return nil, err
		}
		set = rest
		text, isText, err := textOf(entry.Value)
		if err != nil {
			return nil, err
		}
		content := entry.Value.FullBytes
		if isText {
			content = encoded(asn1.TagUTF8String, false, canonicalText(text))
		}
		entries = append(entries, encoded(asn1.TagSequence, true, slices.Concat(entry.Kind.FullBytes, content)))
	}
	slices.SortFunc(entries, bytes.Compare)
	return entries, nil
}

// textOf returns a string as UTF-8, and reports whether OpenSSL canonicalizes a string of its type (ASN1_MASK_CANON). A
// string with one byte for each character counts as Latin-1 (OpenSSL: ASN1_STRING_to_UTF8).
func textOf(value asn1.RawValue) (text []byte, isText bool, err error) {
	if value.Class != asn1.ClassUniversal || slices.Contains(refusedTags, value.Tag) {
		return nil, false, errors.New("an attribute is of a type that no name has")
	}
	b := value.Bytes
	switch value.Tag {
	case asn1.TagUTF8String:
		if !utf8.Valid(b) {
			err = errors.New("a UTF8String is no UTF-8")
		}
		return b, true, err
	case asn1.TagPrintableString, asn1.TagIA5String, tagTeletex:
		for _, c := range b {
			text = utf8.AppendRune(text, rune(c))
		}
		return text, true, nil
	case asn1.TagBMPString:
		if len(b)%2 != 0 {
			return nil, true, errors.New("a BMPString has two bytes for each character")
		}
		for ; len(b) > 0; b = b[2:] {
			r := rune(binary.BigEndian.Uint16(b))
			if utf16.IsSurrogate(r) {
				return nil, true, errors.New("a BMPString has no pairs of characters")
			}
			text = utf8.AppendRune(text, r)
		}
		return text, true, nil
	case tagUniversal:
		if len(b)%4 != 0 {
			return nil, true, errors.New("a UniversalString has four bytes for each character")
		}
		for ; len(b) > 0; b = b[4:] {
			r := binary.BigEndian.Uint32(b)
			if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return nil, true, fmt.Errorf("a UniversalString has no character %#x", r)
			}
			text = utf8.AppendRune(text, rune(r))
		}
		return text, true, nil
	}
	return nil, false, nil
}

// isBlank is C's isspace for ASCII.
func isBlank(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// canonicalText removes blanks at the ends, replaces several by one, and converts ASCII letters to lower case (OpenSSL:
// asn1_string_canon).
func canonicalText(text []byte) []byte {
	var out []byte
	for i, b := range text {
		switch {
		case b >= 'A' && b <= 'Z':
			out = append(out, b+'a'-'A')
		case !isBlank(b):
			out = append(out, b)
		case len(out) > 0 && !isBlank(text[i-1]):
			out = append(out, ' ')
		}
	}
	return bytes.TrimSuffix(out, []byte(" "))
}

// encoded is a value in DER.
func encoded(tag int, compound bool, content []byte) []byte {
	der, err := asn1.Marshal(asn1.RawValue{Tag: tag, IsCompound: compound, Bytes: content})
	if err != nil { // for a raw value this only means a tag that DER does not have
		panic(err)
	}
	return der
}
