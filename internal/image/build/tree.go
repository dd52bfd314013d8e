package build

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// special are the kinds of files that have no content of a fixed size.
const special = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket

// maxNamed is how many files an error names.
const maxNamed = 3

// CheckTree refuses a tree with devices, pipes or sockets, such as one that debootstrap has made as root. mkosi copies a tree with cp
// --copy-contents, which reads them: /dev/console never ends, and /dev/zero fills the disk.
func CheckTree(dir string) error {
	var found []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&special != 0 {
			found = append(found, name)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		return err
	}
	names := strings.Join(found[:min(len(found), maxNamed)], ", ")
	if more := len(found) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("the tree has files that cannot be copied into an image: %s; remove them, a machine makes its own at each boot (find %s/dev -mindepth 1 -delete)", names, dir)
}
