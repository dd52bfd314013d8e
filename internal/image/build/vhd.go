package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"
)

// VHD, by Microsoft's "Virtual Hard Disk Image Format Specification" of 2006-10-11. A fixed disk is the raw disk and a footer.
const (
	footerSize = 512
	// Alignment is the multiple of Azure's disks, in bytes:
	// https://learn.microsoft.com/azure/virtual-machines/linux/create-upload-generic
	Alignment = 1 << 20
	fixed     = 2
)

// vhdEpoch is the time from which a footer counts.
var vhdEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// footer is the footer of a fixed disk. No tool writes it reproducibly: qemu-img takes the current time and a random identifier.
func footer(size int64, at time.Time, id [16]byte) []byte {
	f := make([]byte, footerSize)
	copy(f, "conectix")
	binary.BigEndian.PutUint32(f[8:], 2)        // features: the reserved bit, which is always set
	binary.BigEndian.PutUint32(f[12:], 1<<16)   // version 1.0
	binary.BigEndian.PutUint64(f[16:], 1<<64-1) // a fixed disk has no header
	binary.BigEndian.PutUint32(f[24:], uint32(max(0, at.Sub(vhdEpoch)/time.Second)))
	// For creators that it does not know, QEMU takes the size from the geometry, which is smaller (block/vpc.c).
	copy(f[28:], "win ")
	binary.BigEndian.PutUint32(f[32:], 10<<16)
	copy(f[36:], "Wi2k")
	binary.BigEndian.PutUint64(f[40:], uint64(size))
	binary.BigEndian.PutUint64(f[48:], uint64(size))
	cylinders, heads, sectors := geometry(size / 512)
	binary.BigEndian.PutUint16(f[56:], cylinders)
	f[58], f[59] = heads, sectors
	binary.BigEndian.PutUint32(f[60:], fixed)
	copy(f[68:], id[:])
	var sum uint32
	for _, b := range f {
		sum += uint32(b)
	}
	binary.BigEndian.PutUint32(f[64:], ^sum)
	return f
}

// geometry is the geometry of a disk, by the specification's appendix, "CHS Calculation".
func geometry(sectors int64) (cylinders uint16, heads, perTrack uint8) {
	total := min(sectors, 65535*16*255)
	var n, h, t int64
	if total >= 65535*16*63 {
		t, h = 255, 16
		n = total / t
	} else {
		t = 17
		n = total / t
		h = max(4, (n+1023)/1024)
		if n >= h*1024 || h > 16 {
			t, h = 31, 16
			n = total / t
		}
		if n >= h*1024 {
			t, h = 63, 16
			n = total / t
		}
	}
	return uint16(n / h), uint8(h), uint8(t)
}

// writeVHD writes a raw disk as a fixed VHD. The disk's size becomes a multiple of Azure's: what is behind the second partition table is
// empty, as on each machine whose disk is larger than its image, and systemd-repart moves the table at the first boot. Blocks of zeros
// become holes.
func writeVHD(to, raw *os.File, at time.Time, id [16]byte) error {
	info, err := raw.Stat()
	if err != nil {
		return err
	}
	size := (info.Size() + Alignment - 1) / Alignment * Alignment
	if err := to.Truncate(size); err != nil {
		return err
	}
	block, zeros := make([]byte, Alignment), make([]byte, Alignment)
	for offset := int64(0); offset < size; offset += Alignment {
		n, err := io.ReadFull(raw, block)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if bytes.Equal(block[:n], zeros[:n]) {
			continue
		}
		if _, err := to.WriteAt(block[:n], offset); err != nil {
			return err
		}
	}
	_, err = to.WriteAt(footer(size, at, id), size)
	return err
}
