package volume

import "encoding/binary"

// sectorSize is the logical sector of ISO 9660, and the step of the volume recognition sequence that it
// shares with UDF (ECMA-119 §6.1.2, ECMA-167 §2/8.3).
const sectorSize = 2048

// systemArea is the size of the area before the sequence, in sectors; it is for booting from the disk.
const systemArea = 16

// recognition is which standards a disk claims to follow.
type recognition struct{ udf, iso bool }

// standards are the standard identifiers of the sequence, with the file system of each (ECMA-119 §8.1.2, ECMA-167
// §2/9.1.2 and §3/9.1.2). The others begin the sequence, end it, or are for booting.
var standards = map[string]recognition{
	"CD001": {iso: true},
	"NSR02": {udf: true},
	"NSR03": {udf: true},
	"BEA01": {},
	"TEA01": {},
	"BOOT2": {},
	"CDW02": {},
}

// recognitionSequence reads the volume recognition sequence. A disk without one has an empty one. Its order does not
// matter: opening a file system checks the requirements of its standard.
func recognitionSequence(s *session) (found recognition, err error) {
	for sector := int64(systemArea); sector < systemArea+maxDescriptors; sector++ {
		if (sector+1)*sectorSize > s.size {
			break
		}
		header, err := s.view(sector*sectorSize, 6)
		if err != nil {
			return recognition{}, err
		}
		// With blocks of 4,096 bytes every other sector is empty (ECMA-167 §2/8.3).
		if sector%2 == 1 && header[1] == 0 {
			continue
		}
		standard, known := standards[string(header[1:6])]
		if !known {
			break
		}
		found.udf = found.udf || standard.udf
		found.iso = found.iso || standard.iso
	}
	return found, nil
}

// The master boot record: four entries of 16 bytes and a signature, in sectors of 512 bytes (UEFI
// specification 2.10, §5.2.1).
const (
	bootRecordSize   = 512
	partitionEntries = 446
	partitionEntry   = 16
	bootSignature    = 0xAA55 // at 510, little-endian
)

// masterBootRecord returns the partitions within the disk. A disk without the record has no partitions.
func masterBootRecord(s *session) ([]disk, error) {
	if s.size < bootRecordSize {
		return nil, nil
	}
	record, err := s.view(0, bootRecordSize)
	if err != nil || binary.LittleEndian.Uint16(record[510:]) != bootSignature {
		return nil, err
	}
	var partitions []disk
	for at := partitionEntries; at < 510; at += partitionEntry {
		entry := record[at : at+partitionEntry]
		status, kind := entry[0], entry[4]
		start := int64(binary.LittleEndian.Uint32(entry[8:])) * bootRecordSize
		size := int64(binary.LittleEndian.Uint32(entry[12:])) * bootRecordSize
		if status&0x7F == 0 && kind != 0 && start > 0 && size > 0 && start <= s.size-size {
			partitions = append(partitions, disk{reader: s.reader, base: s.base + start, size: size})
		}
	}
	return partitions, nil
}
