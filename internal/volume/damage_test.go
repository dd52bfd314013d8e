package volume_test

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// maxReads is the package's limit of reads for one call.
const maxReads = 4096

// damageable are disks to damage. Only UDF has checksums over everything that is read, except the content of files:
// damaged metadata is not returned.
var damageable = []struct {
	name   string
	load   func(testing.TB, string) []byte
	summed bool
}{
	{"azure.iso", pure, true},
	{"udf201.img", load, true},
	{"rockridge.iso", load, false},
	{"joliet.iso", load, false},
	{"plain.iso", load, false},
	{"fat12.img", load, false},
	{"small32.img", load, false},
}

// wanted is the file that is read from a damaged disk: it exists, below two directories.
const wanted = "openstack/latest/user_data"

// examine opens a disk, reads from it, and checks the properties of every disk. It returns the wanted file.
func examine(t *testing.T, m *image) ([]byte, error) {
	t.Helper()
	const limit = 4096
	m.reads, m.bytes, m.wrong = 0, 0, nil
	v, err := volume.Open(m, m.size)
	bounded(t, m, 0)
	if err != nil {
		if !typed(err) || v != nil {
			t.Fatalf("open: %v", err)
		}
		return nil, err
	}
	if _, err := v.ReadFile("missing", limit); err == nil || !typed(err) {
		t.Fatalf("what is not there: %v", err)
	}
	bounded(t, m, 0)
	data, err := v.ReadFile(wanted, limit)
	bounded(t, m, limit)
	if err != nil && (!typed(err) || data != nil) || len(data) > limit {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	return data, err
}

// bounded checks the reads of one call.
func bounded(t *testing.T, m *image, limit int64) {
	t.Helper()
	if m.wrong != nil || m.reads > maxReads || m.bytes > maxReads*4096+16*128<<10+limit {
		t.Fatalf("%d reads of %d bytes, %v", m.reads, m.bytes, m.wrong)
	}
	m.reads, m.bytes = 0, 0
}

// structure are the offsets that are read of a disk, except the content of the wanted file.
func structure(t *testing.T, m *image) (offsets []int) {
	m.seen = make([]bool, m.size)
	if data, err := examine(t, m); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && string(data) != files[wanted] {
		t.Fatal(err)
	}
	content := bytes.Index(m.data, []byte(files[wanted]))
	for at, seen := range m.seen {
		inContent := content >= 0 && at >= content && at < content+len(files[wanted])
		// Zeros are many and alike, so only every eleventh counts.
		if seen && !inContent && (m.data[at] != 0 || at%11 == 0) {
			offsets = append(offsets, at)
		}
	}
	m.seen = nil
	return offsets
}

// Each byte that is read is wrong in turn.
func TestDamagedBytes(t *testing.T) {
	for _, c := range damageable {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newImage(c.load(t, c.name))
			offsets := structure(t, m)
			if len(offsets) < 100 {
				t.Fatalf("%d bytes are read", len(offsets))
			}
			var same, failed, other int
			before, _ := examine(t, m)
			for _, at := range offsets {
				right, indifferent := m.data[at], false
				for n, wrong := range []byte{^right, 0, 0xFF, right + 1, right ^ 0x80} {
					if n == 1 && indifferent {
						break // the neighbourhood of a structure is read with it
					}
					m.data[at] = wrong
					data, err := examine(t, m)
					switch {
					case err != nil:
						failed++
						indifferent = before == nil && errors.Is(err, fs.ErrNotExist)
					case string(data) == files[wanted]:
						same++
						indifferent = true
					default:
						other++
						if c.summed {
							t.Errorf("byte %d is %#x, not %#x: other content is given out", at, wrong, right)
						}
					}
				}
				m.data[at] = right
			}
			t.Logf("%d bytes: %d errors, %d times the same content, %d times other", len(offsets), failed, same, other)
		})
	}
}

// The disk ends after every sector: before and after the size that the caller knows.
func TestTruncated(t *testing.T) {
	for _, c := range damageable {
		whole := newImage(c.load(t, c.name))
		_, want := examine(t, whole)
		step := max(512, whole.size/512&^511)
		for size := int64(0); size < whole.size; size += step {
			short := newImage(whole.data[:size])
			data, err := examine(t, short)
			if err == nil && string(data) != files[wanted] {
				t.Errorf("%s: %d bytes of a disk of %d sectors", c.name, len(data), size/512)
			}
			if errors.Is(err, fs.ErrNotExist) && want == nil {
				t.Errorf("%s: %d sectors: the file is not there: %v", c.name, size/512, err)
			}
		}
	}
}
