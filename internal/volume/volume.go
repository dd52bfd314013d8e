package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Volume is a file system on a disk. It is safe for concurrent use if the disk's reader is.
type Volume struct {
	disk          disk
	format, label string
	// systems are read in this order; a bridge disk has two.
	systems []filesystem
}

// filesystem reads a disk by one standard.
type filesystem interface {
	// root returns the root directory.
	root(s *session) (file, error)
	// find returns the entry with a name in a directory with the given content, which is cut at maxDirectory. If there
	// is no such name, or it is neither a file nor a directory, its error is fs.ErrNotExist.
	find(s *session, content []byte, name string) (file, error)
}

// Open recognizes the file system on a disk of size bytes. The error is ErrUnknown for an unknown one, ErrCorrupt for
// an unusable one, or the reader's.
//
// If the disk itself has no file system, Open opens the first partition of its master boot record that has one.
func Open(r io.ReaderAt, size int64) (*Volume, error) {
	s := newSession(disk{reader: r, size: max(size, 0)})
	volume, failed := recognise(s)
	if failed == nil {
		return volume, nil
	}
	if !errors.Is(failed, ErrUnknown) {
		return nil, fmt.Errorf("open volume: %w", failed)
	}
	partitions, err := masterBootRecord(s)
	if err != nil {
		return nil, fmt.Errorf("open volume: %w", err)
	}
	for _, partition := range partitions {
		s.enter(partition)
		volume, err := recognise(s)
		if err == nil {
			return volume, nil
		}
		if errors.Is(failed, ErrUnknown) {
			failed = err
		}
	}
	return nil, fmt.Errorf("open volume: %w", failed)
}

// recognise opens the file system of a whole disk or partition.
func recognise(s *session) (*Volume, error) {
	found, err := recognitionSequence(s)
	if err != nil {
		return nil, err
	}
	volume, failed := &Volume{disk: s.disk}, ErrUnknown
	add := func(format string, open func(*session) (filesystem, string, error)) {
		system, label, err := open(s)
		if err != nil {
			if errors.Is(failed, ErrUnknown) {
				failed = err
			}
			return
		}
		if volume.format == "" {
			volume.format = format
		}
		// ISO 9660 comes second on a bridge disk, and other programs show its label.
		if label != "" {
			volume.label = label
		}
		volume.systems = append(volume.systems, system)
	}
	if found.udf {
		add("udf", openUDF)
	}
	if found.iso {
		add("iso9660", openISO)
	}
	if volume.format == "" {
		add("vfat", openFAT)
	}
	if volume.format == "" {
		return nil, failed
	}
	return volume, nil
}

// Format is the kind of file system: "udf", "iso9660" or "vfat". A bridge disk is "udf".
func (v *Volume) Format() string { return v.format }

// Label is the volume's label, without padding. It may be empty. It is ISO 9660's volume identifier, UDF's logical
// volume identifier or FAT's volume label, in this order.
func (v *Volume) Label() string { return v.label }

// ReadFile reads the file at a slash-separated path ("openstack/latest/user_data"), of at most limit bytes. Names
// compare exactly; otherwise, on FAT and on ISO 9660 with plain names, without case. The version of an ISO 9660 name
// (";1") does not count.
//
// The error is an [fs.PathError] around fs.ErrNotExist (no such file; it is a directory or a symbolic link),
// fs.ErrInvalid (not a path, or one of more than 16 components), ErrTooLarge, ErrCorrupt, or the reader's. It holds no
// byte of the disk.
func (v *Volume) ReadFile(path string, limit int64) ([]byte, error) {
	if !fs.ValidPath(path) || path == "." || strings.Count(path, "/") >= maxComponents {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	s := newSession(v.disk)
	s.limit = max(limit, 0)
	var failed error
	for _, system := range v.systems {
		data, err := s.load(system, path)
		if err == nil {
			return data, nil
		}
		// Damage in one half of a bridge disk is a better error than that the other half has no such file.
		if failed == nil || errors.Is(failed, fs.ErrNotExist) {
			failed = err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: failed}
}

// load reads one file of one file system.
func (s *session) load(system filesystem, path string) ([]byte, error) {
	f, err := s.walk(system, path)
	switch {
	case err != nil:
		return nil, err
	case f.directory:
		return nil, fmt.Errorf("%w: it is a directory", fs.ErrNotExist)
	}
	data := make([]byte, f.size)
	if err := s.read(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

// walk follows a path.
func (s *session) walk(system filesystem, path string) (file, error) {
	f, err := system.root(s)
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			return file{}, err
		}
		if !f.directory {
			return file{}, fmt.Errorf("%w: a component of the path is not a directory", fs.ErrNotExist)
		}
		content, failed := s.directory(f)
		if failed != nil {
			return file{}, failed
		}
		cut := f.size > maxDirectory
		f, err = system.find(s, content, name)
		if cut && (errors.Is(err, errNoEntry) || errors.Is(err, errEndsEarly)) {
			err = errDirectoryTooLarge
		}
	}
	return f, err
}
