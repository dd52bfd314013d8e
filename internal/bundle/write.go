package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Write writes a bundle as a new directory, completely or not at all. Only its owner can read it, because its files may hold
// secrets; within it each file has its own mode. renderings are the documents that the manifest names.
func Write(dir string, m *Manifest, renderings map[string][]byte) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty; name a new directory", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole, err := os.MkdirTemp(filepath.Dir(dir), ".slipway-bundle-") // its mode is 0700
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(whole))
		}
	}()
	data, err := m.encode()
	if err != nil {
		return err
	}
	files := map[string][]byte{ManifestName: data}
	for _, r := range m.Renderings {
		files[r.Name] = renderings[r.Name]
	}
	for name, content := range files {
		if err := writeNew(filepath.Join(whole, name), content, 0o600); err != nil {
			return err
		}
	}
	if err := writeTree(filepath.Join(whole, Tree), m.Entries); err != nil {
		return err
	}
	return os.Rename(whole, dir) // takes the place of an empty one
}

// writeTree writes the entries. Modes of directories come last: one may forbid to write there.
func writeTree(root string, entries []Entry) error {
	for _, e := range entries {
		at := filepath.Join(root, e.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		var err error
		switch e.Type {
		case TypeDirectory:
			err = os.MkdirAll(at, 0o755)
		case TypeLink:
			err = os.Symlink(e.Target, at)
		case TypeFile:
			err = writeNew(at, e.Content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Type == TypeLink {
			continue
		}
		mode, err := e.fileMode()
		if err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(root, e.Path), mode); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that is not there yet. It is for its owner alone until its mode is set.
func writeNew(name string, content []byte, mode os.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

func (e *Entry) fileMode() (os.FileMode, error) {
	var bits uint32
	if _, err := fmt.Sscanf(e.Mode, "%o", &bits); err != nil {
		return 0, fmt.Errorf("%s has the mode %q: %w", e.Path, e.Mode, err)
	}
	return resource.FileMode(bits), nil
}
