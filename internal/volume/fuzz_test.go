package volume_test

import (
	"bytes"
	"encoding/binary"
	"runtime/metrics"
	"testing"
)

// maxMemory is the memory limit of a call in addition to the content that it returns, in bytes. Other goroutines'
// allocations count too, so there is some reserve.
const maxMemory = 256<<10 + 64<<10

// allocated is the total of all allocations, in bytes.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// checkMemory examines a disk, and checks the memory of the three calls.
func checkMemory(t *testing.T, m *image) {
	t.Helper()
	before := allocated()
	_, _ = examine(t, m)
	if took := allocated() - before; took > 3*maxMemory+4096 {
		t.Fatalf("%d bytes of memory", took)
	}
}

// FuzzOpen: whatever is on a disk, the work on it is limited, and every error is a documented one.
func FuzzOpen(f *testing.F) {
	// The rest is the content of files, or empty; a short input is fast.
	for _, seed := range []struct {
		name string
		size int
	}{
		{"plain.iso", 64 << 10}, {"joliet.iso", 64 << 10}, {"rockridge.iso", 64 << 10}, {"fat12.img", 48 << 10},
		{"unlabelled.img", 16 << 10}, {"udf201.img", 160 << 10},
	} {
		f.Add(load(f, seed.name)[:seed.size])
	}
	f.Add(partitioned(partition{0, 12, 63, 0, load(f, "unlabelled.img")[:16<<10]}))
	f.Fuzz(func(t *testing.T, data []byte) { checkMemory(t, newImage(data)) })
}

// patches are changes to a disk: each has an offset of three bytes, from a table of used offsets, and four bytes.
func patches(data, changes []byte, places []int) []int {
	var changed []int
	for ; len(changes) >= 7; changes = changes[7:] {
		place := places[int(binary.LittleEndian.Uint16(changes))%len(places)]
		at := place + int(changes[2])
		edit(data, min(at, len(data)), changes[3:7]...)
		changed = append(changed, place)
	}
	return changed
}

// fuzzPatches fuzzes changes to a disk's structures.
func fuzzPatches(f *testing.F, data []byte, places []int, seal func(data []byte, place int)) {
	f.Helper()
	f.Add([]byte{0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Add([]byte{1, 0, 16, 0, 0, 0, 0, 2, 0, 20, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, changes []byte) {
		changed := bytes.Clone(data)
		for _, place := range patches(changed, changes, places) {
			seal(changed, place)
		}
		checkMemory(t, newImage(changed))
	})
}

// every is the multiples of step in a range.
func every(from, to, step int) (places []int) {
	for at := from; at < to; at += step {
		places = append(places, at)
	}
	return places
}

func unsealed([]byte, int) {}

// FuzzISO changes the descriptors, directories and continuation areas of a disk with Rock Ridge and Joliet.
func FuzzISO(f *testing.F) {
	data := load(f, "xorriso.iso")
	content := bytes.Index(data, []byte("line 000000"))
	fuzzPatches(f, data, every(16*2048, max(content, 48*2048), 32), unsealed)
}

// FuzzFAT changes the boot sector, the first table and the directories.
func FuzzFAT(f *testing.F) {
	data := load(f, "fat12.img")
	root := bytes.Index(data, []byte("cidata"))
	fuzzPatches(f, data, append(every(0, 512, 8), every(512, max(root, 512)+16<<10, 16)...), unsealed)
}

// FuzzUDF changes descriptors, and corrects their checksums.
func FuzzUDF(f *testing.F) {
	d := &udfDisk{data: pure(f, "azure.iso")}
	var places []int
	for _, tag := range []uint16{2, 5, 6, 256, 257, 261} {
		places = append(places, d.tagged(tag)...)
	}
	// A directory's file identifiers follow each other.
	for _, at := range d.tagged(257) {
		for at += 40; binary.LittleEndian.Uint16(d.data[at:]) == 257; {
			places = append(places, at)
			at += (38 + int(d.data[at+19]) + int(binary.LittleEndian.Uint16(d.data[at+36:])) + 3) &^ 3
		}
	}
	fuzzPatches(f, d.data, places, func(data []byte, place int) {
		// A descriptor with an impossible length cannot be sealed.
		if int(binary.LittleEndian.Uint16(data[place+10:])) <= 2048-16 {
			(&udfDisk{data: data}).seal(place)
		}
	})
}

// The disk that makes a call use the most memory: directories of the largest size, and many extents.
func TestMemory(t *testing.T) {
	d := newFATDisk(t)
	scatter(d, d.first(largeShort), 0)
	large := newImage(isoDisk(append(make([]isoRecord, 0, 1025), func() (records []isoRecord) {
		for range 1025 {
			records = append(records, isoRecord{name: "LARGE.TXT;1", block: isoContent, size: 2048, flags: 0x80})
		}
		return records
	}()...)...))
	for name, m := range map[string]*image{
		"FAT": newImage(d.data), "ISO 9660": large, "bridge": newImage(load(t, "bridge.iso")), "UDF": newImage(pure(t, "azure.iso")),
	} {
		v := open(t, m)
		for _, path := range []string{"large.txt", "openstack/missing"} {
			const limit = 1 << 20
			before := allocated()
			_, _ = v.ReadFile(path, limit)
			if took := allocated() - before; took > limit+maxMemory {
				t.Errorf("%s: %s takes %d bytes", name, path, took)
			}
		}
	}
}
