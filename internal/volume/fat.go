package volume

import (
	"cmp"
	"encoding/binary"
	"fmt"
)

// fat is a file system of the FAT family (Microsoft Extensible Firmware Initiative FAT32 File System
// Specification 1.03, "the specification" here).
type fat struct {
	// width is the size of an entry of the table, in bits: 12, 16 or 32.
	width int
	// table is the offset of the first file allocation table and tableSize its length, in bytes.
	table, tableSize int64
	// data is the offset of cluster 2, cluster a cluster's size in bytes, and last the highest number.
	data, cluster int64
	last          uint32
	// directory is the root directory of FAT12 and FAT16, which has no cluster; rootCluster is FAT32's.
	directory   extent
	rootCluster uint32
}

const (
	// maxCluster is the size of the largest cluster that any system creates, in bytes. The specification allows half of
	// that.
	maxCluster = 64 << 10
	// firstCluster is the number of the first cluster.
	firstCluster = 2
	// max12 and max16 are the largest numbers of clusters of FAT12 and FAT16 (the specification, "FAT Type
	// Determination").
	max12 = 4084
	max16 = 65524
	// max32 excludes the entries with another meaning; the upper four bits are not part of the number.
	max32 = 0x0FFFFFF5
)

// openFAT reads the BIOS parameter block (the specification, "Boot Sector and BPB Structure"). If there is no such
// block, the error is ErrUnknown.
func openFAT(s *session) (filesystem, string, error) {
	if s.size < bootRecordSize {
		return nil, "", ErrUnknown
	}
	b, err := s.view(0, bootRecordSize)
	if err != nil {
		return nil, "", err
	}
	sector, sectors := int64(binary.LittleEndian.Uint16(b[11:])), int64(b[13])
	reserved, tables := int64(binary.LittleEndian.Uint16(b[14:])), int64(b[16])
	if !plausibleFAT(b, sector, sectors, reserved, tables) {
		return nil, "", ErrUnknown
	}
	entries := int64(binary.LittleEndian.Uint16(b[17:]))
	tableSectors := int64(binary.LittleEndian.Uint16(b[22:]))
	old := tableSectors != 0 // FAT12 or FAT16
	if !old {
		tableSectors = int64(binary.LittleEndian.Uint32(b[36:]))
	}
	total := cmp.Or(int64(binary.LittleEndian.Uint16(b[19:])), int64(binary.LittleEndian.Uint32(b[32:])))
	f := &fat{table: reserved * sector, tableSize: tableSectors * sector, cluster: sector * sectors}
	root := f.table + tables*f.tableSize
	f.directory = extent{at: root, size: entries * slotSize}
	f.data = root + (f.directory.size+sector-1)/sector*sector
	clusters := (total*sector - f.data) / f.cluster
	switch {
	case total*sector < f.data || clusters == 0:
		return nil, "", corrupt("fat: %d sectors leave no room for a file", total)
	// The specification uses only the number of clusters. But there are small FAT32 disks, and every system recognizes
	// them by the table's size, which is at another offset.
	case !old && clusters <= max32:
		f.width, f.rootCluster = 32, binary.LittleEndian.Uint32(b[44:])
	case old && clusters <= max12:
		f.width = 12
	case old && clusters <= max16:
		f.width = 16
	default:
		return nil, "", corrupt("fat: %d clusters are too many", clusters)
	}
	f.last = uint32(clusters) + firstCluster - 1
	label := bootLabel(b, old)
	named, err := f.rootLabel(s)
	if err != nil {
		return nil, "", fmt.Errorf("label: %w", err)
	}
	if named != "" {
		label = named
	}
	return f, label, nil
}

// plausibleFAT distinguishes a FAT boot sector from other data: there is no identifier that always exists. A master
// boot record and NTFS have zeros in these fields.
func plausibleFAT(b []byte, sector, sectors, reserved, tables int64) bool {
	powerOfTwo := func(n int64) bool { return n > 0 && n&(n-1) == 0 }
	media := b[21]
	return binary.LittleEndian.Uint16(b[510:]) == bootSignature &&
		(b[0] == 0xEB || b[0] == 0xE9) &&
		powerOfTwo(sector) && sector >= 512 && sector <= 4096 &&
		powerOfTwo(sectors) && sector*sectors <= maxCluster &&
		reserved > 0 && tables > 0 && tables <= 2 &&
		(media == 0xF0 || media >= 0xF8)
}

// bootLabel is the boot sector's label, which follows a signature. Programs without a label write "NO NAME".
func bootLabel(b []byte, old bool) string {
	at := 66
	if old {
		at = 38
	}
	if label := labelText(b[at+5:][:11]); b[at] == 0x29 && label != "NO NAME" {
		return label
	}
	return ""
}

func (f *fat) root(s *session) (file, error) {
	if f.width == 32 {
		return f.open(s, true, f.rootCluster, 0)
	}
	s.extents = append(s.extents[:0], f.directory)
	return file{directory: true, size: f.directory.size, extents: s.extents}, nil
}
