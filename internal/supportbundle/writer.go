package supportbundle

import (
	"archive/tar"
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
	tar      *tar.Writer
	manifest Manifest
	names    map[string]bool
	size     int64
}

// NewWriter begins a bundle. slipway is the version of the program, and created is the time of all members.
func NewWriter(to io.Writer, slipway string, created time.Time) (*Writer, error) {
	zip := gzip.NewWriter(to)
	w := &Writer{zip: zip, tar: tar.NewWriter(zip), names: make(map[string]bool)}
	w.manifest = Manifest{Format: Format{APIVersion, Kind, Version, slipway}, Created: created.UTC().Truncate(time.Second), Files: []File{}}
	return w, w.document(FormatName, w.manifest.Format)
}

// Left is how many bytes the bundle can still take.
func (w *Writer) Left() int64 { return MaxBytes - w.size }

// Add adds a file. It sets the size and the digest.
func (w *Writer) Add(f File, content []byte) error {
	switch err := checkName(f.Name); {
	case err != nil:
		return fmt.Errorf("the bundle %w", err)
	case w.names[f.Name] || f.Name == FormatName || f.Name == ManifestName:
		return fmt.Errorf("the bundle already has a member %q", f.Name)
	case len(content) > MaxFile || int64(len(content)) > w.Left() || len(w.names) == MaxFiles:
		return fmt.Errorf("%s: is larger than the rest of the bundle", f.Name)
	}
	f.Size, f.SHA256 = int64(len(content)), Digest(content)
	w.manifest.Files = append(w.manifest.Files, f)
	w.names[f.Name] = true
	w.size += f.Size
	return w.member(f.Name, content)
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
		err = w.tar.Close()
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
	return w.member(name, out.Bytes())
}

func (w *Writer) member(name string, content []byte) error {
	header := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: w.manifest.Created}
	if err := w.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.tar.Write(content)
	return err
}
