package supportbundle

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Bundle is a bundle that was read.
type Bundle struct {
	// Manifest lists what the machine has collected. If the bundle is cut, only its Format is known.
	Manifest Manifest
	// Problems are what is wrong with the bundle: where it is cut, and which of its files are damaged and left out.
	Problems []string

	contents map[string][]byte
}

// Names are the names of the files that can be read, sorted.
func (b *Bundle) Names() []string { return slices.Sorted(maps.Keys(b.contents)) }

// Read returns the content of a file, and whether the bundle has it. The caller must not change the content.
func (b *Bundle) Read(name string) ([]byte, bool) {
	content, ok := b.contents[name]
	return content, ok
}

// Open reads a bundle. It refuses what is not a bundle, a newer version, and an archive that no writer of bundles makes: with
// links, names that lead out of it, or more than the limits. If a bundle is cut or damaged, Open returns what is whole, and
// Bundle.Problems names the rest.
func Open(r io.Reader) (*Bundle, error) {
	b, err := open(r)
	if err != nil {
		return nil, fmt.Errorf("read the support bundle: it %w", err)
	}
	return b, nil
}

func open(r io.Reader) (*Bundle, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, errors.New("is not a support bundle: want a .tar.gz file that slipway-node collect has made")
	}
	zip.Multistream(false)
	b := &Bundle{contents: make(map[string][]byte)}
	unpacked := io.LimitReader(zip, maxUnpacked)
	m := &members{archive: tar.NewReader(unpacked)}
	name, content, err := m.next()
	if err != nil || name != FormatName {
		return nil, fmt.Errorf("is not a support bundle: want %s as its first member", FormatName)
	}
	if err := b.Manifest.Format.read(content); err != nil {
		return nil, err
	}
	for {
		name, content, err = m.next()
		switch {
		case errors.As(err, new(*hostileError)):
			return nil, err
		case err != nil:
			b.Problems = append(b.Problems, fmt.Sprintf("the bundle is cut or damaged after %d files (%v): it has no manifest, and later files are missing", len(b.contents), err))
			return b, nil
		case name == ManifestName:
			b.check(content)
			// The checksum of everything is at the end.
			if _, err := io.Copy(io.Discard, unpacked); err != nil {
				b.Problems = append(b.Problems, fmt.Sprintf("the bundle is cut or damaged after its manifest (%v)", err))
			}
			return b, nil
		}
		if _, has := b.contents[name]; has {
			return nil, fmt.Errorf("has two members %q", name)
		}
		b.contents[name] = content
	}
}

// read reads the first member.
func (f *Format) read(content []byte) error {
	if err := json.Unmarshal(content, f); err != nil || f.APIVersion != APIVersion || f.Kind != Kind {
		return fmt.Errorf("is not a support bundle: %s does not name %s %s", FormatName, APIVersion, Kind)
	}
	if f.Version > Version {
		return fmt.Errorf("has version %d of the format, made by Slipway %q; this program reads up to version %d: use a newer slipway", f.Version, f.Slipway, Version)
	}
	return nil
}

// check compares the files with the manifest.
func (b *Bundle) check(content []byte) {
	format := b.Manifest.Format
	if err := json.Unmarshal(content, &b.Manifest); err != nil {
		b.Manifest = Manifest{Format: format}
		b.Problems = append(b.Problems, fmt.Sprintf("%s is damaged: %v", ManifestName, err))
		return
	}
	listed := make(map[string]bool, len(b.Manifest.Files))
	for _, f := range b.Manifest.Files {
		listed[f.Name] = true
		have, ok := b.contents[f.Name]
		switch {
		case !ok:
			b.Problems = append(b.Problems, fmt.Sprintf("%q is in the manifest and not in the bundle", f.Name))
		case Digest(have) != f.SHA256:
			b.Problems = append(b.Problems, fmt.Sprintf("%q is not what the manifest says: it has another digest, and is left out", f.Name))
			delete(b.contents, f.Name)
		}
	}
	for _, name := range b.Names() {
		if !listed[name] {
			b.Problems = append(b.Problems, fmt.Sprintf("%q is not in the manifest, and is left out", name))
			delete(b.contents, name)
		}
	}
}

// hostileError is what no writer of bundles makes, and no damage is likely to.
type hostileError struct{ reason error }

func (e *hostileError) Error() string { return e.reason.Error() }

// maxUnpacked limits the bytes of the whole archive: the files, the manifest, and the archive's own headers.
const maxUnpacked = MaxBytes + maxManifest + (MaxFiles+2)*4<<10

// members reads the members of the archive, within the limits.
type members struct {
	archive *tar.Reader
	count   int
	total   int64
}

func (m *members) next() (name string, content []byte, err error) {
	header, err := m.archive.Next()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the manifest comes before the end
	}
	if err != nil {
		return "", nil, err
	}
	if m.count++; m.count > MaxFiles+2 {
		return "", nil, &hostileError{fmt.Errorf("has more than %d members", MaxFiles)}
	}
	if err := checkName(header.Name); err != nil {
		return "", nil, &hostileError{err}
	}
	limit := int64(MaxFile)
	if header.Name == ManifestName {
		limit = maxManifest
	}
	switch {
	case header.Typeflag != tar.TypeReg:
		return "", nil, &hostileError{fmt.Errorf("has a member %q that is not a regular file", header.Name)}
	case header.Size > limit || m.total+header.Size > MaxBytes+maxManifest:
		return "", nil, &hostileError{fmt.Errorf("unpacks to more than a bundle may have, with %q of %d bytes", header.Name, header.Size)}
	}
	m.total += header.Size
	// The size is not trusted before its bytes are there.
	content, err = io.ReadAll(m.archive)
	return header.Name, content, err
}
