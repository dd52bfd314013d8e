package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

const xzMagic = "\xfd7zXZ\x00"

// maxBlocks bounds the blocks of a stream, which its index lists: xz makes one for 24 MiB and more.
const maxBlocks = 4096

// xz decompresses a stream of xz with the one filter that packages use, LZMA2 (The .xz File Format, 1.2.1). All its checksums are
// checked.
type xz struct {
	in   *position
	kind byte
	// out is what was decompressed and not yet read.
	out  []byte
	lzma lzma

	open       bool // a block is
	needsReset bool
	block      xzSizes
	begun      int64 // where it did
	check      hash.Hash
	blocks     []xzSizes
	err        error
}

// xzSizes are those of a block: without padding, and unpacked.
type xzSizes struct{ unpadded, unpacked int64 }

// position counts what is read.
type position struct {
	*bufio.Reader
	n int64
}

func (p *position) whole(n int) ([]byte, error) {
	data, err := whole(p.Reader, int64(n))
	p.n += int64(n)
	return data, err
}

var (
	errXZ      = errors.New("xz: a header, or the index, is damaged")
	errXZCheck = errors.New("xz: a checksum is wrong")
)

func newXZ(r *bufio.Reader) (*xz, error) {
	x := &xz{in: &position{Reader: r}}
	head, err := x.in.whole(12)
	if err != nil {
		return nil, err
	}
	if head[6] != 0 || crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return nil, errXZ
	}
	x.kind = head[7]
	switch x.kind {
	case 0, 1, 4, 10:
	default:
		return nil, fmt.Errorf("xz: checksums of type %d are not known", x.kind)
	}
	return x, nil
}

// newCheck is the checksum of a block.
func (x *xz) newCheck() hash.Hash {
	switch x.kind {
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		return sha256.New()
	}
	return nil
}

func (x *xz) Read(p []byte) (int, error) {
	for len(x.out) == 0 && x.err == nil {
		x.err = x.more()
	}
	if len(x.out) == 0 {
		return 0, x.err
	}
	n := copy(p, x.out)
	x.out = x.out[n:]
	return n, nil
}

// more reads the next part of the stream: the header of a block, a chunk of it, or the end.
func (x *xz) more() error {
	if x.open {
		return x.chunk()
	}
	size, err := x.in.whole(1)
	if err != nil {
		return err
	}
	if size[0] == 0 {
		if err := x.end(); err != nil {
			return err
		}
		return io.EOF
	}
	if len(x.blocks) == maxBlocks {
		return fmt.Errorf("xz: has more than %d blocks", maxBlocks)
	}
	x.begun = x.in.n - 1
	rest, err := x.in.whole((int(size[0])+1)*4 - 1)
	if err != nil {
		return err
	}
	return x.header(append(size, rest...))
}

// header reads that of a block.
func (x *xz) header(head []byte) error {
	fields, sum := head[2:len(head)-4], head[len(head)-4:]
	if crc32.ChecksumIEEE(head[:len(head)-4]) != binary.LittleEndian.Uint32(sum) {
		return errXZCheck
	}
	flags := head[1]
	if flags&0x3f != 0 {
		return errors.New("xz: has other filters than LZMA2, or flags that are not known")
	}
	for _, bit := range []byte{0x40, 0x80} { // sizes, which are found out in any case
		if flags&bit != 0 {
			if _, rest, ok := vli(fields); ok {
				fields = rest
			} else {
				return errXZ
			}
		}
	}
	// one filter: its number, the size of its properties, and these: the size of the dictionary
	if len(fields) < 3 || fields[0] != 0x21 || fields[1] != 1 || fields[2] > 40 || len(bytes.Trim(fields[3:], "\x00")) > 0 {
		return errors.New("xz: has another filter than LZMA2")
	}
	window := int64(1)<<32 - 1
	if n := fields[2]; n < 40 {
		window = int64(2|n&1) << (n/2 + 11)
	}
	if window > maxWindow {
		return fmt.Errorf("xz: needs a dictionary of %d bytes; the limit is %d", window, int64(maxWindow))
	}
	if int64(len(x.lzma.dict)) != window {
		x.lzma.dict = make([]byte, window)
	}
	x.lzma.at, x.lzma.total, x.lzma.literals = 0, 0, nil
	x.open, x.needsReset, x.block, x.check = true, true, xzSizes{}, x.newCheck()
	return nil
}

// chunk reads one of LZMA2.
func (x *xz) chunk() error {
	control, err := x.in.whole(1)
	if err != nil {
		return err
	}
	c := control[0]
	if c == 0 {
		return x.endBlock()
	}
	if c >= 0xe0 || c == 1 {
		x.needsReset, x.lzma.at, x.lzma.total = false, 0, 0
	}
	if x.needsReset || c > 2 && c < 0x80 {
		return errLZMA
	}
	if c < 0x80 {
		err = x.stored()
	} else {
		err = x.compressed(c)
	}
	if err != nil {
		return err
	}
	x.block.unpacked += int64(len(x.out))
	if x.check != nil {
		x.check.Write(x.out)
	}
	return nil
}

// stored reads a chunk that is not compressed.
func (x *xz) stored() error {
	size, err := x.in.whole(2)
	if err == nil {
		x.out, err = x.in.whole(int(binary.BigEndian.Uint16(size)) + 1)
	}
	for _, b := range x.out {
		x.lzma.put(b)
	}
	return err
}

// compressed reads a chunk that is.
func (x *xz) compressed(control byte) error {
	sizes, err := x.in.whole(4)
	if err != nil {
		return err
	}
	unpacked := int(control&0x1f)<<16 + int(binary.BigEndian.Uint16(sizes)) + 1
	packed := int(binary.BigEndian.Uint16(sizes[2:])) + 1
	if control >= 0xc0 {
		b, err := x.in.whole(1)
		if err == nil {
			err = x.lzma.properties(b[0])
		}
		if err != nil {
			return err
		}
	}
	switch {
	case x.lzma.literals == nil: // there must be properties first
		return errLZMA
	case control >= 0xa0:
		x.lzma.reset()
	}
	in, err := x.in.whole(packed)
	if err != nil {
		return err
	}
	x.out, err = x.lzma.chunk(in, make([]byte, 0, unpacked), unpacked)
	return err
}

// endBlock reads a block's padding and checksum.
func (x *xz) endBlock() error {
	x.open = false
	size := x.in.n - x.begun
	padding, err := x.in.whole(int(padded(size, 4) - size))
	if err != nil {
		return err
	}
	if len(bytes.Trim(padding, "\x00")) > 0 {
		return errXZ
	}
	if x.check != nil {
		sum := x.check.Sum(nil)
		if x.kind < 10 { // a number, the lowest byte first
			for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
				sum[i], sum[j] = sum[j], sum[i]
			}
		}
		have, err := x.in.whole(len(sum))
		if err != nil {
			return err
		}
		if !bytes.Equal(have, sum) {
			return errXZCheck
		}
		size += int64(len(sum))
	}
	x.block.unpadded = size
	x.blocks = append(x.blocks, x.block)
	return nil
}

// end reads the index, which must say what was read, and the footer, and wants nothing after it.
func (x *xz) end() error {
	want := []byte{0}
	for _, n := range append([]int64{int64(len(x.blocks))}, flat(x.blocks)...) {
		want = binary.AppendUvarint(want, uint64(n))
	}
	want = append(want, make([]byte, padded(int64(len(want)), 4)-int64(len(want)))...)
	want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(want))
	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(want)/4-1))
	footer = append(footer, 0, x.kind)
	want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(footer))
	want = append(append(want, footer...), "YZ"...)
	have, err := x.in.whole(len(want) - 1)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, want[1:]) {
		return errXZ
	}
	if _, err := x.in.Peek(1); !errors.Is(err, io.EOF) {
		return errors.New("xz: something follows the stream")
	}
	return nil
}

func flat(blocks []xzSizes) (all []int64) {
	for _, b := range blocks {
		all = append(all, b.unpadded, b.unpacked)
	}
	return all
}

// vli reads a number of variable length.
func vli(data []byte) (n uint64, rest []byte, ok bool) {
	n, length := binary.Uvarint(data)
	return n, data[max(length, 0):], length > 0 && length <= 9
}
