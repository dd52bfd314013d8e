package volume_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

const udfBlock = 2048

// udfDisk is azure.iso without ISO 9660, with changed descriptors.
type udfDisk struct {
	*testing.T
	data []byte
	// partition is the block where the partition begins.
	partition uint32
}

func newUDFDisk(t *testing.T) *udfDisk {
	d := &udfDisk{T: t, data: pure(t, "azure.iso")}
	at := d.tagged(5)[0]
	d.partition = binary.LittleEndian.Uint32(d.data[at+188:])
	return d
}

// tagged are the offsets of the descriptors with a tag that fill a block.
func (d *udfDisk) tagged(tag uint16) (offsets []int) {
	for at := 16 * udfBlock; at < len(d.data); at += udfBlock {
		if b := d.data[at:]; binary.LittleEndian.Uint16(b) == tag && b[2] == 2 && b[3] == 0 && b[5] == 0 {
			offsets = append(offsets, at)
		}
	}
	return offsets
}

// identifier is the offset of a name's file identifier.
func (d *udfDisk) identifier(name string) int {
	d.Helper()
	at := bytes.Index(d.data, append([]byte{8}, name...))
	if at < 0 {
		d.Fatal("no", name)
	}
	return at - 38
}

// entry is the offset of a name's file entry.
func (d *udfDisk) entry(name string) int {
	return int(d.partition+binary.LittleEndian.Uint32(d.data[d.identifier(name)+24:])) * udfBlock
}

// body is the offset of a file entry's allocation descriptors.
func (d *udfDisk) body(entry int) int {
	return entry + 176 + int(binary.LittleEndian.Uint32(d.data[entry+168:]))
}

// spare is a free block: one of the large file's. Its number is relative to the partition.
func (d *udfDisk) spare() (block uint32, at int) {
	content := bytes.Index(d.data, []byte("line 000000"))
	return uint32(content/udfBlock) - d.partition, content
}

// seal corrects a descriptor's tag.
func (d *udfDisk) seal(at int) {
	b := d.data[at:]
	length := int(binary.LittleEndian.Uint16(b[10:]))
	crc := uint16(0)
	for _, c := range b[16:][:length] {
		for bit := 7; bit >= 0; bit-- { // bit by bit, as in the standard
			top := crc>>15 ^ uint16(c>>bit&1)
			crc = crc<<1 ^ top*0x1021
		}
	}
	binary.LittleEndian.PutUint16(b[8:], crc)
	b[4] = 0
	for n, c := range b[:16] {
		if n != 4 {
			b[4] += c
		}
	}
}

// allocation gives a file other allocation descriptors, of a kind, and a size.
func (d *udfDisk) allocation(name string, kind byte, size int, descriptors []byte) {
	at := d.entry(name)
	d.data[at+34] = d.data[at+34]&^7 | kind
	binary.LittleEndian.PutUint64(d.data[at+56:], uint64(size))
	binary.LittleEndian.PutUint32(d.data[at+172:], uint32(len(descriptors)))
	edit(d.data, d.body(at), descriptors...)
	binary.LittleEndian.PutUint16(d.data[at+10:], udfBlock-16)
	d.seal(at)
}

// short is a short_ad. Its type is in the upper two bits of the length.
func short(kind, length, block uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind<<30|length)
	return binary.LittleEndian.AppendUint32(b, block)
}

// long is a long_ad.
func long(kind, length, block uint32, partition uint16) []byte {
	b := binary.LittleEndian.AppendUint16(short(kind, length, block), partition)
	return append(b, 0, 0, 0, 0, 0, 0)
}

// continued makes the spare block an allocation extent descriptor.
func (d *udfDisk) continued(descriptors []byte) (block uint32) {
	block, at := d.spare()
	clear(d.data[at : at+udfBlock])
	binary.LittleEndian.PutUint16(d.data[at:], 258)
	d.data[at+2] = 2
	binary.LittleEndian.PutUint16(d.data[at+10:], udfBlock-16)
	binary.LittleEndian.PutUint32(d.data[at+12:], block)
	binary.LittleEndian.PutUint32(d.data[at+20:], uint32(len(descriptors)))
	edit(d.data, at+24, descriptors...)
	d.seal(at)
	return block
}

// udfFile is the file whose entry the tests change.
const udfFile = "user-data"

func TestUDFAllocation(t *testing.T) {
	content := files[udfFile]
	size := uint32(len(content))
	for name, c := range map[string]struct {
		kind byte
		size int
		with func(d *udfDisk, block uint32) []byte
		want string // part of the error, or ""
	}{
		"short":    {0, int(size), func(_ *udfDisk, block uint32) []byte { return short(0, size, block) }, content},
		"long":     {1, int(size), func(_ *udfDisk, block uint32) []byte { return long(0, size, block, 0) }, content},
		"embedded": {3, 5, func(*udfDisk, uint32) []byte { return []byte("hello") }, "hello"},
		"a hole": {0, udfBlock + int(size), func(_ *udfDisk, block uint32) []byte {
			return append(short(2, udfBlock, 0), short(0, size, block)...)
		}, strings.Repeat("\x00", udfBlock) + content},
		"allocated, not recorded": {0, int(size), func(_ *udfDisk, block uint32) []byte {
			return short(1, size, block)
		}, strings.Repeat("\x00", int(size))},
		"more than the file": {0, 3, func(_ *udfDisk, block uint32) []byte {
			return append(short(0, udfBlock, block), short(0, udfBlock, 1<<29)...)
		}, content[:3]},
		"continued": {0, int(size), func(d *udfDisk, block uint32) []byte {
			return short(3, udfBlock, d.continued(short(0, size, block)))
		}, content},
		"continued in a circle": {0, int(size), func(d *udfDisk, _ uint32) []byte {
			spare, _ := d.spare()
			return short(3, udfBlock, d.continued(short(3, udfBlock, spare)))
		}, ""},
		"continued nowhere":   {0, int(size), func(_ *udfDisk, block uint32) []byte { return short(3, udfBlock, block) }, ""},
		"beyond the end":      {0, int(size), func(*udfDisk, uint32) []byte { return short(0, size, 1<<31) }, ""},
		"longer than it is":   {0, int(size) + 1, func(_ *udfDisk, block uint32) []byte { return short(0, size, block) }, ""},
		"embedded, too short": {3, 6, func(*udfDisk, uint32) []byte { return []byte("hello") }, ""},
		"an end at once":      {0, int(size), func(*udfDisk, uint32) []byte { return short(0, 0, 0) }, ""},
		"half a descriptor":   {0, int(size), func(_ *udfDisk, block uint32) []byte { return short(0, size, block)[:7] }, ""},
		"no such partition":   {1, int(size), func(_ *udfDisk, block uint32) []byte { return long(0, size, block, 7) }, ""},
		"extended":            {2, int(size), func(*udfDisk, uint32) []byte { return make([]byte, 20) }, ""},
		"too many": {0, 1 << 19, func(*udfDisk, uint32) []byte {
			return bytes.Repeat(short(0, 1, 0), 200)
		}, ""},
		"larger than the disk": {0, 1 << 20, func(*udfDisk, uint32) []byte { return short(2, 1<<29, 0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newUDFDisk(t)
			block := binary.LittleEndian.Uint32(d.data[d.body(d.entry(udfFile))+4:])
			d.allocation(udfFile, c.kind, c.size, c.with(d, block))
			v := open(t, newImage(d.data))
			if c.want == "" {
				expectError(t, v, udfFile, volume.ErrCorrupt)
			} else {
				expect(t, v, udfFile, c.want)
			}
			expect(t, v, "meta-data", files["meta-data"])
		})
	}
}

// Changes of other descriptors, and the resulting file.
func TestUDFDescriptors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *udfDisk)
		want   error
	}{
		"extended file entry": {func(d *udfDisk) {
			at := d.entry(udfFile)
			old := bytes.Clone(d.data[at : at+udfBlock])
			edit(d.data, at, 0x0A, 0x01) // 266
			edit(d.data, at+208, old[168:udfBlock-40]...)
			binary.LittleEndian.PutUint16(d.data[at+10:], udfBlock-16)
			d.seal(at)
		}, nil},
		"another kind of file": {func(d *udfDisk) { d.data[d.entry(udfFile)+27] = 12; d.seal(d.entry(udfFile)) }, fs.ErrNotExist},
		"another strategy":     {func(d *udfDisk) { edit(d.data, d.entry(udfFile)+20, 0, 0x10); d.seal(d.entry(udfFile)) }, volume.ErrCorrupt},
		"attributes too long":  {func(d *udfDisk) { d.data[d.entry(udfFile)+171] = 0xFF; d.seal(d.entry(udfFile)) }, volume.ErrCorrupt},
		"no file entry":        {func(d *udfDisk) { d.data[d.entry(udfFile)]++; d.seal(d.entry(udfFile)) }, volume.ErrCorrupt},
		"of another block":     {func(d *udfDisk) { d.data[d.entry(udfFile)+12]++; d.seal(d.entry(udfFile)) }, volume.ErrCorrupt},
		"a wrong checksum":     {func(d *udfDisk) { d.data[d.entry(udfFile)+60]++ }, volume.ErrCorrupt},
		"deleted":              {func(d *udfDisk) { d.data[d.identifier(udfFile)+18] |= 4; d.seal(d.identifier(udfFile)) }, fs.ErrNotExist},
		"hidden":               {func(d *udfDisk) { d.data[d.identifier(udfFile)+18] |= 1; d.seal(d.identifier(udfFile)) }, nil},
		"elsewhere":            {func(d *udfDisk) { d.data[d.identifier(udfFile)+27] = 0xFF; d.seal(d.identifier(udfFile)) }, volume.ErrCorrupt},
		"no such partition":    {func(d *udfDisk) { d.data[d.identifier(udfFile)+28] = 1; d.seal(d.identifier(udfFile)) }, volume.ErrCorrupt},
		"an identifier that is too long": {func(d *udfDisk) {
			edit(d.data, d.identifier(udfFile)+36, 0xFF, 0xFF)
		}, volume.ErrCorrupt},
		"a damaged main sequence": {func(d *udfDisk) { d.data[d.tagged(6)[0]+100]++ }, nil},
		"no partition in it":      {func(d *udfDisk) { edit(d.data, d.tagged(5)[0], 0, 0) }, nil},
		"a damaged first anchor":  {func(d *udfDisk) { d.data[256*udfBlock]++ }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newUDFDisk(t)
			c.change(d)
			v := open(t, newImage(d.data))
			if c.want == nil {
				expect(t, v, udfFile, files[udfFile])
			} else {
				expectError(t, v, udfFile, c.want)
			}
		})
	}
}

// Changes in both sequences after which nothing can be opened.
func TestUDFVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		tag   uint16
		at    int
		patch []byte
	}{
		"a block of no size":          {6, 212, []byte{0, 0, 0, 0}},
		"a block of another size":     {6, 212, []byte{0, 2, 0, 0}},
		"a type 2 map":                {6, 440, []byte{2, 64}},
		"a map of no size":            {6, 441, []byte{0}},
		"a thousand maps":             {6, 268, []byte{0xE8, 3}},
		"maps that are longer":        {6, 264, []byte{0, 0, 0, 0xFF}},
		"a partition beyond the end":  {5, 188, []byte{0xFF, 0xFF, 0xFF, 0xFF}},
		"a partition of no size":      {5, 192, []byte{0, 0, 0, 0}},
		"no logical volume":           {6, 0, []byte{7}},
		"another partition's number":  {5, 22, []byte{9}},
		"no file set":                 {256, 0, []byte{1}},
		"a sequence of no size":       {2, 16, make([]byte, 16)},
		"a sequence beyond the end":   {2, 16, bytes.Repeat([]byte{0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF}, 2)},
		"a file set beyond partition": {6, 252, []byte{0xFF, 0xFF, 0xFF, 0x7F}},
	} {
		d := newUDFDisk(t)
		for _, at := range d.tagged(c.tag) {
			edit(d.data, at+c.at, c.patch...)
			d.seal(at)
		}
		if v, err := volume.Open(newImage(d.data), int64(len(d.data))); !errors.Is(err, volume.ErrCorrupt) || v != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A root that is a file is detected when it is used.
	d := newUDFDisk(t)
	at := d.tagged(256)[0]
	file := binary.LittleEndian.Uint32(d.data[d.identifier(udfFile)+24:])
	binary.LittleEndian.PutUint32(d.data[at+404:], file)
	d.seal(at)
	expectError(t, open(t, newImage(d.data)), udfFile, volume.ErrCorrupt)
}

// Of two descriptors of one partition the one with the higher sequence number prevails, in any order.
func TestUDFPrevailing(t *testing.T) {
	for name, c := range map[string]struct {
		sequence byte
		want     error
	}{"an older one": {0, nil}, "a newer one": {200, volume.ErrCorrupt}} {
		d := newUDFDisk(t)
		for n, at := range d.tagged(7) { // over the unallocated space descriptor, which the package does not read
			partition := d.tagged(5)[n]
			location := bytes.Clone(d.data[at+12 : at+16])
			copy(d.data[at:at+udfBlock], d.data[partition:])
			edit(d.data, at+12, location...)
			d.data[at+16] = c.sequence
			edit(d.data, at+188, 0, 0, 0, 0) // the partition is elsewhere
			d.seal(at)
		}
		if _, err := volume.Open(newImage(d.data), int64(len(d.data))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A directory that contains itself has paths of any length, up to the limit.
func TestUDFCircle(t *testing.T) {
	d := newUDFDisk(t)
	at := d.identifier("latest")
	copy(d.data[at+20:at+36], d.data[d.identifier("openstack")+20:])
	d.seal(at)
	v := open(t, newImage(d.data))
	expectError(t, v, "openstack"+strings.Repeat("/latest", 14)+"/user_data", fs.ErrNotExist)
	expectError(t, v, "openstack"+strings.Repeat("/latest", 15)+"/user_data", fs.ErrInvalid)
}

// A directory with more entries than the limit: a name is found among the first, or the result is unknown.
func TestUDFLargeDirectory(t *testing.T) {
	d := newUDFDisk(t)
	identifier := func(name string) []byte {
		b := bytes.Clone(d.data[d.identifier(udfFile):][:38])
		edit(b, 18, 0, byte(len(name)+1))
		edit(b, 36, 0, 0)
		b = append(append(b, 8), name...)
		b = append(b, make([]byte, (4-len(b)%4)%4)...)
		binary.LittleEndian.PutUint16(b[10:], uint16(len(b)-16))
		(&udfDisk{data: b}).seal(0)
		return b
	}
	content := slices.Concat(bytes.Repeat(identifier("a"), 1022), identifier("b"), identifier("c"), identifier("d"))
	block, at := d.spare()
	edit(d.data, at, content...)
	d.allocation("latest", 0, len(content), short(0, uint32(len(content)), block))
	v := open(t, newImage(d.data))
	for _, name := range []string{"a", "b", "c"} {
		expect(t, v, "openstack/latest/"+name, files[udfFile])
	}
	expectError(t, v, "openstack/latest/d", volume.ErrTooLarge)
	expectError(t, v, "openstack/latest/e", volume.ErrTooLarge)
}

// Either half of a bridge disk replaces the other.
func TestBridge(t *testing.T) {
	for name, change := range map[string]func(d *udfDisk){
		"a damaged file entry":     func(d *udfDisk) { d.data[d.entry(udfFile)+60]++ },
		"a file that is not there": func(d *udfDisk) { d.data[d.identifier(udfFile)+18] |= 4; d.seal(d.identifier(udfFile)) },
		"no anchors": func(d *udfDisk) {
			for _, at := range d.tagged(2) {
				clear(d.data[at : at+16])
			}
		},
		"no primary volume descriptor": func(d *udfDisk) { d.data[16*udfBlock] = 3 },
		"a root beyond the end":        func(d *udfDisk) { d.data[16*udfBlock+156+5] = 0xFF },
	} {
		t.Run(name, func(t *testing.T) {
			d := &udfDisk{T: t, data: load(t, "bridge.iso")}
			d.partition = binary.LittleEndian.Uint32(d.data[d.tagged(5)[0]+188:])
			change(d)
			v := open(t, newImage(d.data))
			expect(t, v, udfFile, files[udfFile])
			expectError(t, v, "missing", fs.ErrNotExist)
		})
	}
	// A file that is damaged in one half and missing in the other is damaged.
	d := &udfDisk{T: t, data: load(t, "bridge.iso")}
	d.partition = binary.LittleEndian.Uint32(d.data[d.tagged(5)[0]+188:])
	d.data[d.entry(udfFile)+60]++
	d.data = bytes.ReplaceAll(d.data, []byte("NM\x0e\x01\x00user-data"), []byte("NM\x0e\x01\x00gone-gone"))
	expectError(t, open(t, newImage(d.data)), udfFile, volume.ErrCorrupt)
}
