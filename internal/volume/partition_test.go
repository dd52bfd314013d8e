package volume_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// partition is one of a master boot record.
type partition struct {
	entry       int
	kind        byte
	start, size int // in sectors of 512 bytes; a size of 0 is that of the data
	data        []byte
}

// partitioned puts partitions on a disk.
func partitioned(partitions ...partition) []byte {
	data := make([]byte, 63*512)
	for _, p := range partitions {
		if p.size == 0 {
			p.size = len(p.data) / 512
		}
		if end := p.start*512 + len(p.data); end > len(data) {
			data = append(data, make([]byte, end-len(data))...)
		}
		entry := data[446+16*p.entry:]
		entry[4] = p.kind
		binary.LittleEndian.PutUint32(entry[8:], uint32(p.start))
		binary.LittleEndian.PutUint32(entry[12:], uint32(p.size))
		edit(data, p.start*512, p.data...)
	}
	edit(data, 510, 0x55, 0xAA)
	return data
}

func TestPartitions(t *testing.T) {
	fat, iso, udf := load(t, "fat12.img"), load(t, "rockridge.iso"), pure(t, "azure.iso")
	other := make([]byte, 4096)
	for name, c := range map[string]struct {
		data   []byte
		format string
		err    error
	}{
		"FAT":                  {partitioned(partition{0, 0x0C, 63, 0, fat}), "vfat", nil},
		"ISO 9660":             {partitioned(partition{0, 0x96, 2048, 0, iso}), "iso9660", nil},
		"UDF":                  {partitioned(partition{3, 0x07, 65, 0, udf}), "udf", nil},
		"the second":           {partitioned(partition{0, 0x83, 63, 0, other}, partition{1, 0x0C, 80, 0, fat}), "vfat", nil},
		"the first":            {partitioned(partition{2, 0x96, 2048, 0, iso}, partition{1, 0x0C, 80, 0, fat}), "vfat", nil},
		"of no kind":           {partitioned(partition{0, 0, 63, 0, fat}), "", volume.ErrUnknown},
		"of no size":           {partitioned(partition{0, 12, 63, 0, nil}), "", volume.ErrUnknown},
		"too long":             {partitioned(partition{0, 12, 63, 1 << 30, fat}), "", volume.ErrUnknown},
		"on the disk":          {partitioned(partition{0, 12, 0, 63, nil}), "", volume.ErrUnknown},
		"nested":               {partitioned(partition{0, 5, 63, 0, partitioned(partition{0, 12, 63, 0, fat})}), "", volume.ErrUnknown},
		"behind a damaged one": {partitioned(partition{0, 12, 63, 0, isoDisk()[:17*2048]}, partition{1, 12, 300, 0, fat}), "vfat", nil},
		"cut":                  {partitioned(partition{0, 12, 63, 0, isoDisk()[:17*2048]}), "", volume.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := volume.Open(newImage(c.data), int64(len(c.data)))
			if !errors.Is(err, c.err) || err == nil && v.Format() != c.format {
				t.Fatalf("%v, want %s, %v", err, c.format, c.err)
			}
			if err == nil {
				expect(t, v, wanted, files[wanted])
				expect(t, v, "large.txt", files["large.txt"])
			}
		})
	}
}
