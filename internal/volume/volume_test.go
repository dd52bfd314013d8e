package volume_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// anyName are the files with names that not every format supports.
var anyName = map[string]string{
	"größe.txt": "", "größe": "latin\n", "размер": "cyrillic\n", strings.Repeat("0", 60): "long\n",
}

// images are the disks of testdata with their content.
var images = []struct {
	name, format, label string
	// size is the disk's size, if the image was cut.
	size int64
	// folds reports whether names compare without case.
	folds bool
	// extra are additional files.
	extra map[string]string
	// missing are missing files.
	missing []string
}{
	{name: "bridge.iso", format: "udf", label: "cidata", extra: without(anyName, "größe.txt"), missing: []string{"größe.txt"}},
	{name: "azure.iso", format: "udf", label: "rd_rdfe_stable"},
	{name: "rockridge.iso", format: "iso9660", label: "config-2",
		extra:   with(without(anyName, "größe.txt"), strings.Repeat("0", 200), "longer\n"),
		missing: []string{"link", "USER_DAT.;1", "user-data;1"}},
	{name: "xorriso.iso", format: "iso9660", label: "cidata",
		extra:   with(without(anyName, "größe.txt"), strings.Repeat("0", 200), "longer\n"),
		missing: []string{"link"}},
	{name: "joliet.iso", format: "iso9660", label: "cidata", extra: without(anyName, "größe.txt"), missing: []string{"user-data;1"}},
	{name: "fat12.img", format: "vfat", label: "cidata", folds: true},
	{name: "fat16.img", format: "vfat", label: "CONFIG-2", folds: true},
	{name: "fat32.img", format: "vfat", label: "cidata", folds: true, size: 34000 << 10},
}

func without(m map[string]string, name string) map[string]string {
	m = maps.Clone(m)
	delete(m, name)
	return m
}

func with(m map[string]string, name, content string) map[string]string {
	m[name] = content
	return m
}

func TestImages(t *testing.T) {
	for _, c := range images {
		t.Run(c.name, func(t *testing.T) {
			m := newImage(load(t, c.name))
			m.size = max(m.size, c.size)
			v := open(t, m)
			if v.Format() != c.format || v.Label() != c.label {
				t.Errorf("%s with label %q, want %s with %q", v.Format(), v.Label(), c.format, c.label)
			}
			for _, present := range []map[string]string{files, c.extra} {
				for _, path := range slices.Sorted(maps.Keys(present)) {
					expect(t, v, path, present[path])
				}
			}
			for _, path := range append(c.missing, "missing", "openstack/missing", "openstack/latest", "user-data/x", "missing/x") {
				expectError(t, v, path, fs.ErrNotExist)
			}
			if c.folds {
				expect(t, v, "OPENSTACK/Latest/USER_DATA", files["openstack/latest/user_data"])
			} else {
				expectError(t, v, "OPENSTACK/Latest/USER_DATA", fs.ErrNotExist)
			}
			if m.wrong != nil {
				t.Error(m.wrong)
			}
		})
	}
}

// Plain ISO 9660 has capital letters, digits and underscores; every other character was replaced by one of these.
func TestPlainNames(t *testing.T) {
	v := open(t, newImage(load(t, "plain.iso")))
	if v.Format() != "iso9660" || v.Label() != "CIDATA" {
		t.Errorf("%s with label %q", v.Format(), v.Label())
	}
	for path, file := range map[string]string{
		"large.txt": "large.txt", "empty": "empty", "openstack/latest/user_data": "openstack/latest/user_data",
		"OPENSTACK/LATEST/USER_DATA": "openstack/latest/user_data", "OVF_ENV.XML": "ovf-env.xml",
	} {
		expect(t, v, path, files[file])
	}
	for _, path := range []string{"ovf-env.xml", "empty.", "empty;1"} {
		expectError(t, v, path, fs.ErrNotExist)
	}
}

// Disks of other programs without files.
func TestEmptyVolumes(t *testing.T) {
	for name, want := range map[string][2]string{
		"udf201.img": {"udf", "размер"}, "udf102.img": {"udf", "config-2"},
		"small32.img": {"vfat", "small"}, "unlabelled.img": {"vfat", ""},
	} {
		v := open(t, newImage(load(t, name)))
		if v.Format() != want[0] || v.Label() != want[1] {
			t.Errorf("%s: %s with label %q", name, v.Format(), v.Label())
		}
		expectError(t, v, "ovf-env.xml", fs.ErrNotExist)
	}
}

func TestNotSupported(t *testing.T) {
	data := load(t, "sparable.img")
	if _, err := volume.Open(newImage(data), int64(len(data))); !errors.Is(err, volume.ErrCorrupt) {
		t.Errorf("sparable: %v", err)
	}
}

func TestUnknown(t *testing.T) {
	bootRecord := make([]byte, 4096)
	edit(bootRecord, 510, 0x55, 0xAA)
	for name, data := range map[string][]byte{
		"nothing": nil, "a byte": {1}, "zeros": make([]byte, 1<<20), "an empty boot record": bootRecord,
		"text": []byte(strings.Repeat("no disk ", 1<<16)),
	} {
		if v, err := volume.Open(newImage(data), int64(len(data))); !errors.Is(err, volume.ErrUnknown) || v != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := volume.Open(newImage(nil), -1); !errors.Is(err, volume.ErrUnknown) {
		t.Errorf("a negative size: %v", err)
	}
}

func TestLimit(t *testing.T) {
	for _, name := range []string{"bridge.iso", "rockridge.iso", "fat12.img"} {
		v := open(t, newImage(load(t, name)))
		for _, c := range []struct {
			path  string
			limit int64
			want  error
		}{
			{"large.txt", 102400, nil},
			{"large.txt", 102399, volume.ErrTooLarge},
			{"large.txt", 0, volume.ErrTooLarge},
			{"large.txt", -1, volume.ErrTooLarge},
			{"large.txt", 1<<63 - 1, nil},
			{"empty", 0, nil},
			{"empty", -1, nil},
		} {
			if got, err := v.ReadFile(c.path, c.limit); !errors.Is(err, c.want) || err == nil && len(got) != len(files[c.path]) {
				t.Errorf("%s: %s to %d: %d bytes, %v", name, c.path, c.limit, len(got), err)
			}
		}
	}
}

func TestInvalidPaths(t *testing.T) {
	v := open(t, newImage(load(t, "fat12.img")))
	deep := strings.Repeat("d/", 16) + "f"
	for _, path := range []string{"", ".", "/", "/empty", "empty/", "openstack//latest", "../empty", "openstack/../empty", deep} {
		expectError(t, v, path, fs.ErrInvalid)
	}
	expectError(t, v, deep[2:], fs.ErrNotExist)
}

// The error names the path. If the device fails, it is the device's.
func TestDeviceErrors(t *testing.T) {
	m := newImage(load(t, "azure.iso"))
	broken := errors.New("medium error")
	v, err := volume.Open(&failing{image: m, after: 1 << 30, err: broken}, m.size)
	if err != nil {
		t.Fatal(err)
	}
	if v.ReadFile("empty", 1); m.reads == 0 {
		t.Fatal("nothing was read")
	}
	for after := range int(m.reads) {
		d := &failing{image: m, after: after, err: broken}
		if v, err = volume.Open(d, m.size); err == nil {
			_, err = v.ReadFile("empty", 1)
		}
		if err != nil && !errors.Is(err, broken) {
			t.Errorf("after %d reads: %v", after, err)
		}
		var path *fs.PathError
		if v != nil && err != nil && (!errors.As(err, &path) || path.Path != "empty") {
			t.Errorf("after %d reads the path is not told: %v", after, err)
		}
	}
	// A device that is shorter than its stated size.
	if _, err := volume.Open(&failing{image: m, err: io.EOF}, m.size); !errors.Is(err, volume.ErrCorrupt) {
		t.Error(err)
	}
}

// failing fails after some reads.
type failing struct {
	*image
	after int
	err   error
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return f.image.ReadAt(p, at)
}
