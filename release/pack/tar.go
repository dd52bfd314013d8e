// Package pack writes the archives, packages and images of a release. The same files make the same bytes.
package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// File is a file of an archive.
type File struct {
	// Name is its path, without a slash at the beginning.
	Name    string
	Content []byte
	Mode    int64
}

// Tar writes a compressed archive of files in a directory, which all belong to root and have one time.
func Tar(dir string, files []File, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	if err := writeTar(&b, dir, files, at); err != nil {
		return nil, err
	}
	return Gzip(b.Bytes())
}

// writeTar writes an archive with the directories that its files need, by name.
func writeTar(to io.Writer, dir string, files []File, at time.Time) error {
	all := make(map[string]File)
	for _, f := range files {
		f.Name = path.Join(dir, f.Name)
		all[f.Name] = f
		for above := path.Dir(f.Name); above != "."; above = path.Dir(above) {
			all[above+"/"] = File{Name: above + "/", Mode: 0o755}
		}
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	w := tar.NewWriter(to)
	for _, name := range names {
		f := all[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: f.Mode, Size: int64(len(f.Content)), ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.Write(f.Content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.Close()
}

// Gzip compresses an archive, or a page or a changelog of a package. It has no name and no time in it.
func Gzip(content []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
