package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Private is the mode of a file with secrets, Public that of other files.
const (
	Private fs.FileMode = 0o600
	Public  fs.FileMode = 0o644
)

// WriteFile writes a file with a mode: under another name in the same directory, readable for its owner only, synced to
// the disk, and then renamed. No reader sees an incomplete file, and an existing file stays until it is replaced.
func WriteFile(path string, data []byte, mode fs.FileMode) (err error) {
	// A rename would replace a device or a link by a file: /dev/null, /dev/stdout.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is %s, not a regular file", path, kindOf(info.Mode()))
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, Pathless(err))
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
			err = fmt.Errorf("write %s: %w", path, Pathless(err))
		}
	}()
	if _, err = file.Write(data); err != nil {
		return err
	}
	if mode != Private {
		if err = file.Chmod(mode); err != nil {
			return err
		}
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a device or a pipe"
}
