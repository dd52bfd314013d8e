package volume_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// isoRecord is a directory record of a generated disk.
type isoRecord struct {
	name  string
	block uint32
	size  uint32
	flags byte
	// system is the system use field.
	system string
	// change, if any, changes the record.
	change func(b []byte)
}

// The disk has its descriptor in block 16, its root directory from block 18 on for rootBlocks, and after that the
// content, different in each block.
const (
	isoRoot    = 18
	rootBlocks = 80
	isoContent = isoRoot + rootBlocks
	isoBlocks  = isoContent + 8
)

// isoBlock is the content of a block.
func isoBlock(n int) string { return strings.Repeat(fmt.Sprint("block ", n, "\n"), 256) }

// isoDisk generates a disk with plain names, unless the records have others.
func isoDisk(records ...isoRecord) []byte {
	data := make([]byte, isoBlocks*2048)
	for n := isoContent; n < isoBlocks; n++ {
		edit(data[:(n+1)*2048], n*2048, []byte(isoBlock(n))...)
	}
	descriptor := data[16*2048:]
	edit(descriptor, 0, []byte("\x01CD001\x01")...)
	edit(descriptor, 40, []byte("MADE HERE                       ")...)
	binary.LittleEndian.PutUint16(descriptor[128:], 2048)
	edit(data, 17*2048, []byte("\xffCD001\x01")...)
	size := uint32(2048)
	if len(records) > 20 {
		size *= rootBlocks
	}
	root := isoRecord{name: "\x00", block: isoRoot, size: size, flags: 2}
	edit(descriptor, 156, root.bytes()...)
	at := isoRoot * 2048
	if len(records) == 0 || records[0].name != "\x00" {
		records = append([]isoRecord{root, {name: "\x01", block: isoRoot, size: size, flags: 2}}, records...)
	}
	for _, r := range records {
		b := r.bytes()
		if at%2048+len(b) > 2048 {
			at = (at/2048 + 1) * 2048
		}
		edit(data, at, b...)
		at += len(b)
	}
	return data
}

func (r isoRecord) bytes() []byte {
	b := make([]byte, 33, 256)
	binary.LittleEndian.PutUint32(b[2:], r.block)
	binary.LittleEndian.PutUint32(b[10:], r.size)
	b[25], b[32] = r.flags, byte(len(r.name))
	b = append(b, r.name...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	b = append(b, r.system...)
	b[0] = byte(len(b))
	if r.change != nil {
		r.change(b)
	}
	return b
}

// ce is a continuation entry.
func ce(block, offset, size uint32) string {
	b := append([]byte("CE\x1c\x01"), make([]byte, 24)...)
	binary.LittleEndian.PutUint32(b[4:], block)
	binary.LittleEndian.PutUint32(b[12:], offset)
	binary.LittleEndian.PutUint32(b[20:], size)
	return string(b)
}

// nm is an alternate name.
func nm(flags byte, name string) string {
	return "NM" + string([]byte{byte(5 + len(name)), 1, flags}) + name
}

// px are the attributes that make a disk Rock Ridge, and sp is the indicator.
const (
	sp = "SP\x07\x01\xbe\xef\x00"
	px = "PX\x04\x01"
)

func TestISORecords(t *testing.T) {
	const n = isoContent
	one := isoBlock(n)[:9]
	for name, c := range map[string]struct {
		records []isoRecord
		want    string
		err     error
	}{
		"plain":             {records: []isoRecord{{name: "FILE.;1", block: n, size: 9}}, want: one},
		"without a version": {records: []isoRecord{{name: "FILE", block: n, size: 9}}, want: one},
		"exact goes before folded": {records: []isoRecord{
			{name: "FILE.;1", block: n + 1, size: 9}, {name: "file", block: n, size: 9},
		}, want: one},
		"of two sections": {records: []isoRecord{
			{name: "FILE.;1", block: n, size: 2048, flags: 0x80}, {name: "FILE.;1", block: n + 3, size: 2048},
		}, want: isoBlock(n)[:2048] + isoBlock(n + 3)[:2048]},
		"without its last section": {records: []isoRecord{
			{name: "FILE.;1", block: n, size: 2048, flags: 0x80}, {name: "G.;1", block: n + 3, size: 2048},
		}, err: volume.ErrCorrupt},
		"the last, and it goes on": {records: []isoRecord{{name: "FILE.;1", block: n, size: 2048, flags: 0x80}}, err: volume.ErrCorrupt},
		"an associated file":       {records: []isoRecord{{name: "FILE.;1", block: n, size: 9, flags: 4}}, err: fs.ErrNotExist},
		"an associated file and the file": {records: []isoRecord{
			{name: "FILE.;1", block: n + 1, size: 9, flags: 4}, {name: "FILE.;1", block: n, size: 9},
		}, want: one},
		"behind its extended attributes": {records: []isoRecord{
			{name: "FILE.;1", block: n - 1, size: 9, change: func(b []byte) { b[1] = 1 }},
		}, want: one},
		"interleaved": {records: []isoRecord{
			{name: "FILE.;1", block: n, size: 9, change: func(b []byte) { b[26] = 1 }},
		}, err: volume.ErrCorrupt},
		"beyond the end":       {records: []isoRecord{{name: "FILE.;1", block: 0xFFFFFFFF, size: 9}}, err: volume.ErrCorrupt},
		"across the end":       {records: []isoRecord{{name: "FILE.;1", block: isoBlocks - 1, size: 2049}}, err: volume.ErrCorrupt},
		"larger than the disk": {records: []isoRecord{{name: "FILE.;1", block: n, size: 1 << 19}}, err: volume.ErrCorrupt},
		"too large":            {records: []isoRecord{{name: "FILE.;1", block: n, size: 0xFFFFFFFF}}, err: volume.ErrTooLarge},
		"a short record": {records: []isoRecord{
			{name: "A.;1"}, {name: "FILE.;1", change: func(b []byte) { b[0] = 33 }},
		}, err: volume.ErrCorrupt},
		"a name that is too long": {records: []isoRecord{
			{name: "FILE.;1", change: func(b []byte) { b[32] = 200 }},
		}, err: volume.ErrCorrupt},
		"a name of no size": {records: []isoRecord{
			{name: "FILE.;1", change: func(b []byte) { b[32] = 0 }},
		}, err: volume.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			v := open(t, newImage(isoDisk(c.records...)))
			if v.Format() != "iso9660" || v.Label() != "MADE HERE" {
				t.Errorf("%s with label %q", v.Format(), v.Label())
			}
			if c.err != nil {
				expectError(t, v, "file", c.err)
			} else {
				expect(t, v, "file", c.want)
			}
		})
	}
}

func TestRockRidgeRecords(t *testing.T) {
	const n = isoContent
	one := isoBlock(n)[:9]
	file := func(system string) []isoRecord {
		return []isoRecord{{name: "F.;1", block: n, size: 9, system: system}}
	}
	for name, c := range map[string]struct {
		records []isoRecord
		// area is the block before the content.
		area string
		want error
	}{
		"named":                  {records: file(nm(0, "file"))},
		"in pieces":              {records: file(nm(1, "fi") + nm(0, "le"))},
		"not named":              {records: []isoRecord{{name: "FILE.;1", block: n, size: 9}}},
		"in a continuation area": {records: file(nm(1, "fi") + ce(n-1, 100, 7)), area: strings.Repeat(" ", 100) + nm(0, "le")},
		"continued before it":    {records: file(ce(n-1, 0, 7) + nm(1, "fi")), area: nm(0, "le")},
		"ended":                  {records: file(nm(0, "file") + "ST\x04\x01" + nm(0, "x"))},
		"padded":                 {records: file(nm(0, "file") + "\x00\x00\x00\x00\x00")},
		"unknown entries":        {records: file("ZZ\x04\x01" + nm(0, "file"))},
		"with other letters":     {records: file(nm(0, "File")), want: fs.ErrNotExist},
		"the parent":             {records: file(nm(4, "")), want: fs.ErrNotExist},
		"a symbolic link":        {records: file(nm(0, "file") + "SL\x05\x01\x00"), want: fs.ErrNotExist},
		"moved":                  {records: file(nm(0, "file") + "CL\x04\x01"), want: fs.ErrNotExist},
		"in a circle":            {records: file(ce(n-1, 0, 28)), area: ce(n-1, 0, 28), want: volume.ErrCorrupt},
		"continued outside":      {records: file(ce(0xFFFFFFFF, 0, 28)), want: volume.ErrCorrupt},
		"continued at length":    {records: file(ce(n-1, 0, 0xFFFFFFFF)), want: volume.ErrCorrupt},
		"continued far off":      {records: file(ce(n-1, 0xFFFFFFFF, 28)), want: volume.ErrCorrupt},
		"continued by half":      {records: file("CE\x08\x01\x00\x00\x00\x00"), want: volume.ErrCorrupt},
		"an entry of three":      {records: file("NM\x03\x01"), want: volume.ErrCorrupt},
		"an entry of too many":   {records: file("NM\xff\x01\x00"), want: volume.ErrCorrupt},
		"a name of no flags":     {records: file("NM\x04\x01"), want: volume.ErrCorrupt},
		"a name without end": {records: file(ce(n-1, 0, 2048)), want: volume.ErrCorrupt,
			area: strings.Repeat(nm(1, strings.Repeat("f", 240)), 8)},
	} {
		t.Run(name, func(t *testing.T) {
			root := isoRecord{name: "\x00", block: isoRoot, size: 2048, flags: 2, system: sp + px}
			data := isoDisk(append([]isoRecord{root}, c.records...)...)
			edit(data, (n-1)*2048, []byte(c.area)...)
			v := open(t, newImage(data))
			if c.want != nil {
				expectError(t, v, "file", c.want)
			} else {
				expect(t, v, "file", one)
			}
		})
	}
}

// The Rock Ridge indicator is in a continuation area of the root, where its identifier usually is.
func TestRockRidgeDetection(t *testing.T) {
	for name, c := range map[string]struct {
		system, area string
		folds        bool
		want         error
	}{
		"Rock Ridge":           {system: sp + px},
		"in a continuation":    {system: sp + ce(isoContent-1, 0, 4), area: px},
		"another extension":    {system: sp + "AA\x04\x01", folds: true},
		"no extension":         {system: "something else", folds: true},
		"in a circle":          {system: sp + ce(isoContent-1, 0, 28), area: ce(isoContent-1, 0, 28), want: volume.ErrCorrupt},
		"a damaged indicator":  {system: "SP\x07\x01\xbe\xee\x00" + px, want: volume.ErrCorrupt},
		"a short one":          {system: "SP\x06\x01\xbe\xef" + px, want: volume.ErrCorrupt},
		"more than the record": {system: "SP\xf0\x01\xbe\xef\x00", want: volume.ErrCorrupt},
	} {
		data := isoDisk(isoRecord{name: "\x00", block: isoRoot, size: 2048, flags: 2, system: c.system},
			isoRecord{name: "FILE.;1", block: isoContent, size: 9, system: nm(0, "name")})
		edit(data, (isoContent-1)*2048, []byte(c.area)...)
		v, err := volume.Open(newImage(data), int64(len(data)))
		switch {
		case c.want != nil || err != nil:
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		case c.folds:
			expect(t, v, "file", isoBlock(isoContent)[:9])
		default:
			expect(t, v, "name", isoBlock(isoContent)[:9])
		}
	}
}

func TestISOVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		at    int
		patch string
		want  error
	}{
		"a block of no size":          {128, "\x00\x00", volume.ErrCorrupt},
		"a block of 513 bytes":        {128, "\x01\x02", volume.ErrCorrupt},
		"a block of 4096 bytes":       {128, "\x00\x10", volume.ErrCorrupt},
		"a root beyond the end":       {158, "\xff\xff\xff\xff", volume.ErrCorrupt},
		"a root that is no record":    {156, "\x00", volume.ErrCorrupt},
		"no primary descriptor":       {0, "\x02", volume.ErrCorrupt},
		"another standard's":          {1, "CD002", volume.ErrUnknown},
		"a root of no size":           {166, "\x00\x00\x00\x00", nil},
		"a label with broken letters": {40, "\xff\xfe", nil},
	} {
		data := isoDisk()
		edit(data, 16*2048+c.at, []byte(c.patch)...)
		v, err := volume.Open(newImage(data), int64(len(data)))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			expectError(t, v, "file", fs.ErrNotExist)
			if strings.ContainsRune(v.Label(), 0) || !strings.HasSuffix(v.Label(), "DE HERE") && v.Label() != "MADE HERE" {
				t.Errorf("%s: label %q", name, v.Label())
			}
		}
	}
	// A disk with volume descriptors only.
	data := bytes.Repeat(append([]byte("\x00CD001\x01"), make([]byte, 2041)...), 1024)
	if _, err := volume.Open(newImage(data), int64(len(data))); !errors.Is(err, volume.ErrCorrupt) {
		t.Error(err)
	}
}

// A directory that contains itself has paths of any length, up to the limit.
func TestISOCircle(t *testing.T) {
	v := open(t, newImage(isoDisk(
		isoRecord{name: "D", block: isoRoot, size: 2048, flags: 2}, isoRecord{name: "F", block: isoContent, size: 9})))
	expect(t, v, strings.Repeat("D/", 15)+"F", isoBlock(isoContent)[:9])
	expectError(t, v, strings.Repeat("D/", 16)+"F", fs.ErrInvalid)
	expectError(t, v, strings.Repeat("D/", 15)+"D", fs.ErrNotExist)
}

// Large directories: of too many entries, and of too many bytes.
func TestISOLargeDirectory(t *testing.T) {
	many := func(name string, n int) (records []isoRecord) {
		for i := range n {
			records = append(records, isoRecord{name: fmt.Sprintf("%s%04d", name, i), block: isoContent, size: 9})
		}
		return records
	}
	for _, name := range []string{"A", strings.Repeat("A", 150)} {
		records := many(name, 1030)
		if len(name) > 1 {
			records = many(name, 780)
		}
		v := open(t, newImage(isoDisk(records...)))
		expect(t, v, name+"0600", isoBlock(isoContent)[:9])
		last := records[len(records)-1].name
		expectError(t, v, last, volume.ErrTooLarge)
		expectError(t, v, "B", volume.ErrTooLarge)
	}
}

// A directory whose names all have many continuations is given up after the limit of reads.
func TestReads(t *testing.T) {
	const here, there, hops = isoContent, isoContent + 4, 12
	root := isoRecord{name: "\x00", block: isoRoot, size: 2048 * rootBlocks, flags: 2, system: sp + px}
	records := []isoRecord{root}
	for range 700 {
		records = append(records, isoRecord{name: "F.;1", block: isoContent, system: ce(here, 0, 28)})
	}
	data := isoDisk(records...)
	for hop := range uint32(hops) {
		block, next := []uint32{here, there}[hop%2], []uint32{there, here}[hop%2]
		edit(data, int(block*2048+hop*28), []byte(ce(next, (hop+1)*28, 28))...)
	}
	clear(data[here*2048+hops*28:][:28])
	m := newImage(data)
	v := open(t, m)
	m.reads = 0
	expectError(t, v, "file", volume.ErrCorrupt)
	if m.reads != maxReads {
		t.Errorf("%d reads", m.reads)
	}
}
