package supportbundle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Writer writes a bundle as a stream.
type Writer struct {
	zip      *gzip.Writer
	manifest Manifest
	names    map[string]bool
	size     int64
}

// NewWriter begins a bundle. slipway is the version of the program, and created is the time of all members.
func NewWriter(to io.Writer, slipway string, created time.Time) (*Writer, error) {
	w := &Writer{zip: gzip.NewWriter(to), names: make(map[string]bool)}
	w.manifest = Manifest{Format: Format{APIVersion, Kind, Version, slipway}, Created: created.UTC().Truncate(time.Second), Files: []File{}}
	return w, w.document(FormatName, w.manifest.Format)
}

// Left is how many bytes the bundle can still take.
func (w *Writer) Left() int64 { return MaxBytes - w.size }

// RefusedError is the reason why a file is not added. The bundle can go on without it.
type RefusedError struct{ reason string }

func (e *RefusedError) Error() string { return e.reason }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Add adds a file. It sets the size and the digest. If the bundle cannot have the file, the error is a [*RefusedError]; any other
// is the stream's.
func (w *Writer) Add(f File, content []byte) error {
	header, err := headerOf(f.Name, len(content), w.manifest.Created)
	switch named := checkName(f.Name); {
	case named != nil:
		return refused("the bundle %v", named)
	case err != nil:
		return refused("%v", err)
	case w.names[f.Name] || f.Name == FormatName || f.Name == ManifestName:
		return refused("the bundle already has a member %q", f.Name)
	case len(content) > MaxFile || int64(len(content)) > w.Left() || len(w.names) == MaxFiles:
		return refused("%s: is larger than the rest of the bundle", f.Name)
	}
	f.Size, f.SHA256 = int64(len(content)), Digest(content)
	w.manifest.Files = append(w.manifest.Files, f)
	w.names[f.Name] = true
	w.size += f.Size
	return w.member(header, content)
}

// Missing records what is not in the bundle.
func (w *Writer) Missing(source, reason string) {
	w.manifest.Missing = append(w.manifest.Missing, Missing{source, reason})
}

// Close writes the manifest, and ends the bundle. It does not close the stream. The returned manifest is what was written.
func (w *Writer) Close(took time.Duration, notes ...string) (*Manifest, error) {
	w.manifest.DurationMs, w.manifest.Notes = took.Milliseconds(), notes
	err := w.document(ManifestName, w.manifest)
	if err == nil {
		_, err = w.zip.Write(make([]byte, 2*block)) // the end of the archive
	}
	if err == nil {
		err = w.zip.Close()
	}
	return &w.manifest, err
}

func (w *Writer) document(name string, v any) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	header, err := headerOf(name, out.Len(), w.manifest.Created)
	if err != nil {
		return err
	}
	return w.member(header, out.Bytes())
}

func (w *Writer) member(header, content []byte) error {
	for _, data := range [][]byte{header, content, make([]byte, -len(content)&(block-1))} {
		if _, err := w.zip.Write(data); err != nil {
			return err
		}
	}
	return nil
}
