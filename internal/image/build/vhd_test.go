package build

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// at is the time of the tests' disks, and id their identifier.
var (
	at = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	id = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// write makes a VHD of a disk of some size, which is empty but for its last bytes.
func write(t *testing.T, size int64, end []byte) string {
	t.Helper()
	raw, err := os.Create(filepath.Join(t.TempDir(), "disk.raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.WriteAt(end, size-int64(len(end))); err != nil {
		t.Fatal(err)
	}
	to, err := os.Create(filepath.Join(t.TempDir(), "disk.vhd"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := writeVHD(to, raw, at, id); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

// TestFooter compares a footer with its bytes: the fields, in the order of the specification.
func TestFooter(t *testing.T) {
	const want = "636f6e6563746978" + "00000002" + "00010000" + "ffffffffffffffff" + "32793d80" + "77696e20" + "000a0000" + "5769326b" +
		"0000000004000000" + "0000000004000000" + "03c30811" + "00000002" + "ffffeef9" + "0102030405060708090a0b0c0d0e0f10" + "00"
	got := footer(64<<20, at, id)
	if len(got) != footerSize || hex.EncodeToString(got[:85]) != want || !bytes.Equal(got[85:], make([]byte, footerSize-85)) {
		t.Errorf("the footer is %x", got)
	}
}

// TestGeometry compares the geometry of disks with that of qemu-img 7.2 for the same sizes, which adds a cylinder for a rest.
func TestGeometry(t *testing.T) {
	for _, c := range []struct {
		megabytes   int64
		cylinders   uint16
		heads, each uint8
	}{{1, 30, 4, 17}, {64, 963, 8, 17}, {504, 1024, 16, 63}, {2305, 4683, 16, 63}, {40 << 10, 20560, 16, 255}, {3 << 20, 65535, 16, 255}} {
		if n, h, s := geometry(c.megabytes << 11); n != c.cylinders || h != c.heads || s != c.each {
			t.Errorf("%d MiB have %d cylinders, %d heads, %d sectors", c.megabytes, n, h, s)
		}
	}
}

// TestQEMUReadsVHD lets qemu-img say how large the disk is.
func TestQEMUReadsVHD(t *testing.T) {
	qemu, err := exec.LookPath("qemu-img")
	if err != nil {
		t.Skip("qemu-img is missing")
	}
	const size = 37 << 20 // no multiple of a cylinder
	out, err := exec.Command(qemu, "info", "--output=json", "-f", "vpc", write(t, size, nil)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Size int64 `json:"virtual-size"`
	}
	if err := json.Unmarshal(out, &info); err != nil || info.Size != size {
		t.Errorf("QEMU reads %d bytes, want %d: %v", info.Size, size, err)
	}
}

// TestSizeAndContent demands whole MiB, the bytes of the disk, and holes where it has none.
func TestSizeAndContent(t *testing.T) {
	end := bytes.Repeat([]byte("end."), 5120)
	name := write(t, 8*Alignment+int64(len(end)), end)
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(make([]byte, 8*Alignment), end, make([]byte, Alignment-len(end)), footer(9*Alignment, at, id))
	if !bytes.Equal(got, want) {
		t.Errorf("the VHD has %d bytes, and is not the disk with zeros and a footer", len(got))
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Blocks*512 > 3*Alignment {
		t.Errorf("the VHD takes %d bytes", stat.Blocks*512)
	}
}

// FuzzFooter demands of each footer that its checksum is right and that its geometry holds no more than the disk.
func FuzzFooter(f *testing.F) {
	f.Add(uint32(1), int64(0))
	f.Add(uint32(1<<21), int64(1<<40))
	f.Fuzz(func(t *testing.T, megabytes uint32, seconds int64) {
		size := int64(megabytes&(1<<22-1)+1) << 20
		foot := footer(size, time.Unix(seconds, 0), id)
		sum := binary.BigEndian.Uint32(foot[64:])
		copy(foot[64:], make([]byte, 4))
		for _, b := range foot {
			sum += uint32(b)
		}
		if sum != 1<<32-1 {
			t.Errorf("the checksum of %d MiB is wrong", megabytes)
		}
		if n, h, s := geometry(size / 512); int64(n)*int64(h)*int64(s) > size/512 || n == 0 {
			t.Errorf("%d bytes have %d cylinders, %d heads, %d sectors", size, n, h, s)
		}
	})
}
