package collect

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
)

// maxMatches limits the files of one pattern. The newest have the last names in most directories.
const maxMatches = 200

// glob returns the existing paths that a pattern matches, sorted. cut reports whether there are more of them.
func glob(m Machine, pattern string) (paths []string, cut bool, err error) {
	if !strings.Contains(pattern, "*") {
		entry, err := m.Stat(pattern)
		if err != nil || entry.Kind == apply.Absent {
			return nil, false, err
		}
		return []string{pattern}, false, nil
	}
	parent, name := path.Split(pattern)
	dirs, cut, err := glob(m, path.Clean(parent))
	for _, dir := range dirs {
		names, listed := m.ReadDir(dir)
		if listed != nil && !errors.Is(listed, fs.ErrNotExist) {
			err = listed
		}
		if len(names) > maxMatches {
			names, cut = names[len(names)-maxMatches:], true
		}
		for _, have := range names {
			if ok, _ := path.Match(name, have); !ok {
				continue
			}
			if strings.HasPrefix(have, ".") || len(paths) == maxMatches {
				continue
			}
			paths = append(paths, path.Join(dir, have))
		}
	}
	return paths, cut, err
}
