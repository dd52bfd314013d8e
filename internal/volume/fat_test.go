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

// fatDisk is fat16.img with a changed table and directories.
type fatDisk struct {
	*testing.T
	data           []byte
	table, cluster int
	// start is the offset of a cluster 0.
	start int
	// clusters is the number of clusters.
	clusters int
}

func newFATDisk(t *testing.T) *fatDisk {
	d := &fatDisk{T: t, data: load(t, "fat16.img")}
	word := func(at int) int { return int(binary.LittleEndian.Uint16(d.data[at:])) }
	d.cluster = 512 * int(d.data[13])
	d.table = 512 * word(14)
	data := d.table + 2*512*word(22) + 32*word(17)
	d.start = data - 2*d.cluster
	d.clusters = (512*word(19) - data) / d.cluster
	return d
}

// slot is the offset of the directory entry with a short name of eleven characters.
func (d *fatDisk) slot(short string) int {
	d.Helper()
	at := bytes.Index(d.data, []byte(short))
	if at < 0 {
		d.Fatal("no", short)
	}
	return at
}

// first is a file's first cluster.
func (d *fatDisk) first(short string) int {
	return int(binary.LittleEndian.Uint16(d.data[d.slot(short)+26:]))
}

// next is the entry of the table for a cluster.
func (d *fatDisk) next(cluster int) int {
	return int(binary.LittleEndian.Uint16(d.data[d.table+2*cluster:]))
}

// link sets the next cluster of a cluster.
func (d *fatDisk) link(cluster, next int) {
	binary.LittleEndian.PutUint16(d.data[d.table+2*cluster:], uint16(next))
}

// size sets the size of a file.
func (d *fatDisk) size(short string, size uint32) {
	binary.LittleEndian.PutUint32(d.data[d.slot(short)+28:], size)
}

const largeShort = "LARGE   TXT"

func TestFATChains(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *fatDisk, first, second int)
		want   error
	}{
		"as it is":                  {func(*fatDisk, int, int) {}, nil},
		"in a circle":               {func(d *fatDisk, first, second int) { d.link(second, first) }, volume.ErrCorrupt},
		"to itself":                 {func(d *fatDisk, first, _ int) { d.link(first, first) }, volume.ErrCorrupt},
		"to a free cluster":         {func(d *fatDisk, first, _ int) { d.link(first, 0) }, volume.ErrCorrupt},
		"to cluster 1":              {func(d *fatDisk, first, _ int) { d.link(first, 1) }, volume.ErrCorrupt},
		"to a bad cluster":          {func(d *fatDisk, first, _ int) { d.link(first, 0xFFF7) }, volume.ErrCorrupt},
		"behind the last cluster":   {func(d *fatDisk, first, _ int) { d.link(first, d.clusters+2) }, volume.ErrCorrupt},
		"to an early end":           {func(d *fatDisk, first, _ int) { d.link(first, 0xFFFF) }, volume.ErrCorrupt},
		"longer than the file":      {func(d *fatDisk, _, _ int) { d.size(largeShort, 600) }, volume.ErrCorrupt},
		"of a file of 4 GiB":        {func(d *fatDisk, _, _ int) { d.size(largeShort, 0xFFFFFFFF) }, volume.ErrTooLarge},
		"from nowhere":              {func(d *fatDisk, _, _ int) { edit(d.data, d.slot(largeShort)+26, 0, 0) }, volume.ErrCorrupt},
		"in more than 1,024 pieces": {scatter, volume.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFATDisk(t)
			first := d.first(largeShort)
			c.change(d, first, d.next(first))
			v := open(t, newImage(d.data))
			if c.want != nil {
				expectError(t, v, "large.txt", c.want)
			} else {
				expect(t, v, "large.txt", files["large.txt"])
			}
		})
	}
}

// scatter moves the large file to every other cluster.
func scatter(d *fatDisk, first, _ int) {
	const pieces = 1100
	for n := range pieces {
		d.link(first, 1000+2*n)
		first = 1000 + 2*n
	}
	d.link(first, 0xFFFF)
	d.size(largeShort, uint32((pieces+1)*d.cluster))
}

// All FAT images have a file in several pieces, so that the chains of every width are followed.
func TestFATPieces(t *testing.T) {
	d := newFATDisk(t)
	pieces := 1
	for cluster := d.first(largeShort); d.next(cluster) < 0xFFF8; cluster = d.next(cluster) {
		if d.next(cluster) != cluster+1 {
			pieces++
		}
	}
	if pieces < 3 {
		t.Errorf("%d pieces", pieces)
	}
}

func TestFATDirectories(t *testing.T) {
	// A directory without an end.
	d := newFATDisk(t)
	openstack := d.first("OPENST~1   ")
	d.link(openstack, openstack)
	v := open(t, newImage(d.data))
	expect(t, v, wanted, files[wanted])
	expectError(t, v, "openstack/missing", volume.ErrTooLarge)

	// A directory that contains itself.
	d = newFATDisk(t)
	binary.LittleEndian.PutUint16(d.data[d.slot("LATEST     ")+26:], uint16(d.first("OPENST~1   ")))
	v = open(t, newImage(d.data))
	expectError(t, v, "openstack"+strings.Repeat("/latest", 14)+"/user_data", fs.ErrNotExist)
	expectError(t, v, "openstack"+strings.Repeat("/latest", 15)+"/user_data", fs.ErrInvalid)

	// More entries than the limit.
	d = newFATDisk(t)
	cluster := d.first("OPENST~1   ")
	at := 0
	for n := range 1030 {
		if at%d.cluster == 0 {
			d.link(cluster, 1000+at/d.cluster)
			cluster = 1000 + at/d.cluster
		}
		slot := d.start + 1000*d.cluster + at
		edit(d.data, slot, []byte(fmt.Sprintf("F%04d      ", n))...)
		clear(d.data[slot+11 : slot+32])
		at += 32
	}
	d.link(cluster, 0xFFFF)
	first := d.data[d.start+d.first("OPENST~1   ")*d.cluster:][:d.cluster]
	for n := 0; n < len(first); n += 32 {
		first[n] = 0xE5 // deleted, so that the later entries are the first ones
	}
	v = open(t, newImage(d.data))
	expect(t, v, "openstack/F1023", "")
	expectError(t, v, "openstack/F1024", volume.ErrTooLarge)
	expectError(t, v, "openstack/missing", volume.ErrTooLarge)
}

// A long name counts only if it is complete and belongs to its short one; otherwise the short one counts.
func TestFATNames(t *testing.T) {
	const metaShort = "META-D~1   " // one slot, before it, has the long name
	for name, c := range map[string]struct {
		change func(d *fatDisk, long int)
		long   bool
	}{
		"as it is":            {func(*fatDisk, int) {}, true},
		"another's":           {func(d *fatDisk, long int) { d.data[long+13]++ }, false},
		"deleted":             {func(d *fatDisk, long int) { d.data[long] = 0xE5 }, false},
		"without its end":     {func(d *fatDisk, long int) { d.data[long] = 1 }, false},
		"incomplete":          {func(d *fatDisk, long int) { d.data[long] = 0x42 }, false},
		"of too many slots":   {func(d *fatDisk, long int) { d.data[long] = 0x55 }, false},
		"of no slots":         {func(d *fatDisk, long int) { d.data[long] = 0x40 }, false},
		"of other characters": {func(d *fatDisk, long int) { d.data[long+1] = 'M' }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFATDisk(t)
			c.change(d, d.slot(metaShort)-32)
			v := open(t, newImage(d.data))
			present, missing := "meta-data", "meta-d~1"
			if !c.long {
				present, missing = missing, present
			}
			expect(t, v, present, files["meta-data"])
			expectError(t, v, missing, fs.ErrNotExist)
		})
	}

	// Characters of two units, and half of one.
	for units, name := range map[[4]byte]string{
		{0x3D, 0xD8, 0x00, 0xDE}: "\U0001F600ta-data", {0x3D, 0xD8, 'e', 0}: "\uFFFDeta-data",
	} {
		d := newFATDisk(t)
		edit(d.data, d.slot(metaShort)-32+1, units[:]...)
		expect(t, open(t, newImage(d.data)), name, files["meta-data"])
	}

	d := newFATDisk(t)
	d.data[d.slot(metaShort)] = 0xE5
	expectError(t, open(t, newImage(d.data)), "meta-data", fs.ErrNotExist)

	// Two names that differ only in case: the exact one is used.
	d = newFATDisk(t)
	for n, c := range []byte("USER-") {
		d.data[d.slot(metaShort)-32+1+2*n] = c
	}
	v := open(t, newImage(d.data))
	expect(t, v, "USER-data", files["meta-data"])
	expect(t, v, "user-data", files["user-data"])
}

func TestFATVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		at    int
		patch []byte
		want  error
	}{
		"sectors of no size":          {11, []byte{0, 0}, volume.ErrUnknown},
		"sectors of 513 bytes":        {11, []byte{1, 2}, volume.ErrUnknown},
		"sectors of 8 KiB":            {11, []byte{0, 0x20}, volume.ErrUnknown},
		"clusters of no size":         {13, []byte{0}, volume.ErrUnknown},
		"clusters of three sectors":   {13, []byte{3}, volume.ErrUnknown},
		"no reserved sectors":         {14, []byte{0, 0}, volume.ErrUnknown},
		"no tables":                   {16, []byte{0}, volume.ErrUnknown},
		"three tables":                {16, []byte{3}, volume.ErrUnknown},
		"no medium":                   {21, []byte{1}, volume.ErrUnknown},
		"no jump":                     {0, []byte{0}, volume.ErrUnknown},
		"no signature":                {510, []byte{0}, volume.ErrUnknown},
		"no sectors":                  {19, []byte{1, 0}, volume.ErrCorrupt},
		"a table larger than it all":  {22, []byte{0xFF, 0xFF}, volume.ErrCorrupt},
		"too many clusters":           {19, []byte{0, 0, 0xF8, 18, 0, 32, 0, 2, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, volume.ErrCorrupt},
		"a root directory beyond all": {14, []byte{0xFF, 0xFF}, volume.ErrCorrupt},
	} {
		d := newFATDisk(t)
		edit(d.data, c.at, c.patch...)
		if v, err := volume.Open(newImage(d.data), int64(len(d.data))); !errors.Is(err, c.want) || v != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The root directory's label has priority over the boot sector's, which is not always changed with it.
func TestFATLabel(t *testing.T) {
	const root, boot, fat32Boot = "CONFIG-2   ", 43, 71
	d := newFATDisk(t)
	slot := bytes.LastIndex(d.data[:d.start+2*d.cluster], []byte(root))
	if slot <= 512 {
		t.Fatal("no label in the root directory")
	}
	edit(d.data, boot, []byte("BOOT LABEL ")...)
	for _, want := range []string{"CONFIG-2", "BOOT LABEL"} {
		if v := open(t, newImage(d.data)); v.Label() != want {
			t.Errorf("label %q, want %q", v.Label(), want)
		}
		d.data[slot] = 0xE5
	}
	d.data[38] = 0 // the boot sector then has no label
	if v := open(t, newImage(d.data)); v.Label() != "" {
		t.Errorf("label %q", v.Label())
	}

	data := load(t, "small32.img")
	edit(data, bytes.LastIndex(data, []byte("small      ")), 0xE5)
	edit(data, fat32Boot, []byte("BOOT LABEL ")...)
	if v := open(t, newImage(data)); v.Label() != "BOOT LABEL" {
		t.Errorf("label %q", v.Label())
	}
}
