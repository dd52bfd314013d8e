package volume_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// image is a disk in memory, which counts its reads. After its data it has zeros up to its size.
type image struct {
	data []byte
	size int64
	// reads is the number of reads, and bytes their total size.
	reads, bytes int64
	// wrong is the first read outside the disk.
	wrong error
	// seen, if any, marks the bytes that were read.
	seen []bool
}

func newImage(data []byte) *image { return &image{data: data, size: int64(len(data))} }

func (m *image) ReadAt(p []byte, at int64) (int, error) {
	m.reads++
	m.bytes += int64(len(p))
	if at < 0 || at > m.size-int64(len(p)) {
		m.wrong = fmt.Errorf("%d bytes at %d of %d", len(p), at, m.size)
		return 0, m.wrong
	}
	clear(p)
	if at < int64(len(m.data)) {
		copy(p, m.data[at:])
	}
	for n := at; m.seen != nil && n < at+int64(len(p)); n++ {
		m.seen[n] = true
	}
	return len(p), nil
}

// unpacked are the images of testdata, each unpacked once.
var unpacked sync.Map

// load returns a copy of an image of testdata.
func load(t testing.TB, name string) []byte {
	t.Helper()
	unpack, _ := unpacked.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) {
		file, err := os.Open("testdata/" + name + ".gz")
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r, err := gzip.NewReader(file)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}))
	data, err := unpack.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(data)
}

// pure is the image of a bridge disk without its ISO 9660 half: all its files come from UDF.
func pure(t testing.TB, name string) []byte {
	return bytes.ReplaceAll(load(t, name), []byte("CD001"), []byte("CDW02"))
}

// open opens a disk that must be a volume.
func open(t testing.TB, m *image) *volume.Volume {
	t.Helper()
	v, err := volume.Open(m, m.size)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// expect reads a file and compares it.
func expect(t testing.TB, v *volume.Volume, path, want string) {
	t.Helper()
	if got, err := v.ReadFile(path, 1<<20); err != nil || string(got) != want {
		t.Errorf("%s: %d bytes, want %d, %v", path, len(got), len(want), err)
	}
}

// expectError requires an error for a file.
func expectError(t testing.TB, v *volume.Volume, path string, want error) {
	t.Helper()
	if got, err := v.ReadFile(path, 1<<20); !errors.Is(err, want) || got != nil {
		t.Errorf("%s: %d bytes, %v, want %v", path, len(got), err, want)
	}
}

// typed reports whether an error is a documented one.
func typed(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, volume.ErrUnknown) ||
		errors.Is(err, volume.ErrCorrupt) || errors.Is(err, volume.ErrTooLarge)
}

// files are what testdata/generate.sh writes to every disk; large has 100 KiB.
var files = map[string]string{
	"ovf-env.xml":                     "<Environment><CustomData>c2xpcHdheQ==</CustomData></Environment>\n",
	"user-data":                       "#cloud-config\nhostname: node\n",
	"meta-data":                       "instance-id: node-1\n",
	"network-config":                  "version: 2\n",
	"openstack/latest/user_data":      "user data of a config drive\n",
	"openstack/latest/meta_data.json": `{"uuid":"1"}`,
	"empty":                           "",
	"large.txt":                       large(),
}

func large() string {
	var b strings.Builder
	for n := range 400 {
		fmt.Fprintf(&b, "line %06d %0244d", n, 0)
	}
	return b.String()
}

// edit writes a patch at an offset of a byte slice.
func edit(data []byte, at int, patch ...byte) { copy(data[at:], patch) }
