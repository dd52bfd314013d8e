package archive

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	arMagic  = "!<arch>\n"
	rpmMagic = "\xed\xab\xee\xdb"
)

// debian reads the payload of a Debian package (deb(5)): an archive of ar, whose member data.tar is compressed.
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
	// rpmHeader begins a header, in the third version of its format.
	rpmHeader = "\x8e\xad\xe8\x01"
	// maxRPMHeader bounds a header. It has the name and digest of each file.
	maxRPMHeader = 32 << 20
)

// rpm reads the payload of an RPM package (RPM: Package format): a lead, a header of signatures, which is padded, a header of what is
// in it, and an archive of cpio, which is compressed.
func rpm(r *bufio.Reader, use func(File) error) error {
	if err := skip(r, rpmLead); err != nil {
		return fmt.Errorf("rpm: %w", err)
	}
	for _, align := range []int64{8, 1} {
		head, err := whole(r, 16)
		if err != nil {
			return fmt.Errorf("rpm: %w", err)
		}
		entries, data := int64(binary.BigEndian.Uint32(head[8:])), int64(binary.BigEndian.Uint32(head[12:]))
		size := entries*16 + data
		if string(head[:4]) != rpmHeader || size > maxRPMHeader {
			return errors.New("rpm: a header is damaged, or too large")
		}
		if err := skip(r, padded(size, align)); err != nil {
			return fmt.Errorf("rpm: %w", err)
		}
	}
	payload, done, err := decompressed(r)
	if err != nil {
		return fmt.Errorf("rpm: %w", err)
	}
	defer done()
	return readCPIO(payload, use)
}
