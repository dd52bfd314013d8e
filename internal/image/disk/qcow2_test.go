package disk

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lima-vm/go-qcow2reader/image/qcow2"
)

// cluster is the size of a cluster of the tests' images in bytes, and a cluster of the disk that has only zeros is a hole.
const cluster = 64 << 10

// wrap makes an image of the format qcow2 of a disk: the header, the two tables, and the clusters (QEMU, docs/interop/qcow2.rst).
func wrap(disk []byte) []byte {
	var out bytes.Buffer
	put := func(value any) {
		if err := binary.Write(&out, binary.BigEndian, value); err != nil {
			panic(err)
		}
	}
	fill := func() { out.Write(make([]byte, (cluster-out.Len()%cluster)%cluster)) }
	put(qcow2.HeaderFieldsV2{Magic: qcow2.MagicType([]byte(qcow2.Magic)), Version: 3, ClusterBits: 16, Size: uint64(len(disk)), L1Size: 1, L1TableOffset: cluster})
	put(qcow2.HeaderFieldsV3{RefcountOrder: 4, HeaderLength: 104})
	fill()
	put(uint64(2 * cluster)) // the only entry of the first table
	fill()
	var clusters bytes.Buffer
	for at := 0; at < len(disk); at += cluster {
		if data := disk[at:min(at+cluster, len(disk))]; bytes.Equal(data, make([]byte, len(data))) {
			put(uint64(0))
		} else {
			put(uint64(3*cluster + clusters.Len()))
			clusters.Write(data)
		}
	}
	fill()
	out.Write(clusters.Bytes())
	fill()
	return out.Bytes()
}

// wrapped is the tests' image in the format qcow2.
func wrapped(t *testing.T) string {
	t.Helper()
	disk, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "disk.qcow2")
	if err := os.WriteFile(name, wrap(disk), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestQCOW2 reads the files of an image of the format qcow2, also of those that QEMU's own program has made.
func TestQCOW2(t *testing.T) {
	readsContent(t, wrapped(t))
	convert, err := exec.LookPath("qemu-img")
	if err != nil {
		t.Skip("qemu-img is missing")
	}
	for _, options := range [][]string{nil, {"-c"}, {"-o", "compat=0.10"}, {"-o", "cluster_size=4096"}, {"-o", "extended_l2=on"}} {
		name := filepath.Join(t.TempDir(), "disk.qcow2")
		arguments := append([]string{"convert", "-f", "raw", "-O", "qcow2"}, options...)
		if out, err := exec.Command(convert, append(arguments, build(t), name)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", options, err, out)
		}
		t.Logf("%q", options)
		readsContent(t, name)
	}
}

// TestDamagedQCOW2 does as TestDamaged, with the header and both tables.
func TestDamagedQCOW2(t *testing.T) {
	damage(t, wrapped(t), span{0, 112}, span{cluster, cluster + 16}, span{2 * cluster, 2*cluster + 256})
}
