package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

const (
	arMagic  = "!<arch>\n"
	rpmMagic = "\xed\xab\xee\xdb"
)

// debian reads the payload of a Debian package (deb(5)): an ar archive with the compressed member data.tar.
func debian(r *bufio.Reader, use func(File) error) error {
	if err := skip(r, int64(len(arMagic))); err != nil {
		return err
	}
	for first := true; ; first = false {
		head, err := whole(r, 60)
		if err != nil {
			return fmt.Errorf("deb: no payload: %w", err)
		}
		// ar(5): name, time, owner, group and mode, then the size at 48 in ten digits
		name := strings.TrimRight(strings.TrimRight(string(head[:16]), " "), "/")
		size, err := strconv.ParseInt(strings.TrimRight(string(head[48:58]), " "), 10, 64)
		if err != nil || size < 0 || size > maxTotal || string(head[58:]) != "`\n" {
			return errors.New("deb: the header of a member is damaged")
		}
		if first && name != "debian-binary" {
			return fmt.Errorf("deb: begins with %q, so it is no Debian package", name)
		}
		if !strings.HasPrefix(name, "data.tar") {
			if err := skip(r, padded(size, 2)); err != nil {
				return fmt.Errorf("deb: %s: %w", name, err)
			}
			continue
		}
		data, done, err := decompressed(&exact{r, size})
		if err != nil {
			return fmt.Errorf("deb: %s: %w", name, err)
		}
		defer done()
		if head, _ := data.Peek(tarBlock); !isTar(head) {
			return fmt.Errorf("deb: %s is no tar, or is compressed in a way that is not known", name)
		}
		return readTar(data, use)
	}
}

const (
	rpmLead = 96
	// rpmHeader is the beginning of a header, in the third version of its format.
	rpmHeader = "\x8e\xad\xe8\x01"
	// maxRPMHeader limits a header. It has the name and digest of each file.
	maxRPMHeader = 32 << 20
	// The tags of two SHA-256 in hexadecimal (RPM: include/rpm/rpmtag.h): that of the second header, and that of the payload.
	rpmSHA256Header  = 273
	rpmSHA256Payload = 5092
)

// rpm reads the payload of an RPM package (RPM: Package format): a lead, a padded header of signatures, a header of the
// content, and a compressed cpio archive. It checks both digests if a package has them, as rpmbuild 4.14 and later
// write them. It checks no signature, and not the older digests of MD5 and SHA-1.
func rpm(r *bufio.Reader, use func(File) error) error {
	if err := skip(r, rpmLead); err != nil {
		return fmt.Errorf("rpm: %w", err)
	}
	headerSum, size, err := readRPMHeader(r, rpmSHA256Header)
	if err != nil {
		return err
	}
	if err := skip(r, padded(size, 8)-size); err != nil {
		return fmt.Errorf("rpm: %w", err)
	}
	sum := sha256.New()
	payloadSum, _, err := readRPMHeader(io.TeeReader(r, sum), rpmSHA256Payload)
	if err == nil {
		err = checkRPM(headerSum, sum, "its header")
	}
	if err != nil {
		return err
	}
	sum.Reset()
	payload, done, err := decompressed(io.TeeReader(r, sum))
	if err != nil {
		return fmt.Errorf("rpm: %w", err)
	}
	defer done()
	if err := readCPIO(payload, use); err != nil {
		return err
	}
	return checkRPM(payloadSum, sum, "its payload")
}

// readRPMHeader reads a header, and returns the digest in the field with a tag, or "", and the header's size.
func readRPMHeader(r io.Reader, tag uint32) (digest string, size int64, err error) {
	head, err := whole(r, 16)
	if err != nil {
		return "", 0, fmt.Errorf("rpm: %w", err)
	}
	entries, data := int64(binary.BigEndian.Uint32(head[8:])), int64(binary.BigEndian.Uint32(head[12:]))
	size = 16 + entries*16 + data
	if string(head[:4]) != rpmHeader || size > maxRPMHeader {
		return "", 0, errors.New("rpm: a header is damaged, or too large")
	}
	const digits = 2 * sha256.Size
	at := data // the offset of the digest
	for range entries {
		entry, err := whole(r, 16) // tag, type, offset, count
		if err != nil {
			return "", 0, fmt.Errorf("rpm: %w", err)
		}
		if binary.BigEndian.Uint32(entry) == tag {
			at = min(at, int64(binary.BigEndian.Uint32(entry[8:])))
		}
	}
	if at <= data-digits {
		if err = skip(r, at); err == nil {
			var text []byte
			text, err = whole(r, digits)
			digest, data = string(text), data-at-digits
		}
	}
	if err == nil {
		err = skip(r, data)
	}
	if err != nil {
		return "", 0, fmt.Errorf("rpm: %w", err)
	}
	return digest, size, nil
}

// checkRPM compares a package's digest with that of the data.
func checkRPM(digest string, sum hash.Hash, what string) error {
	if digest != "" && digest != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("rpm: the SHA-256 of %s is wrong; fetch the package again", what)
	}
	return nil
}
