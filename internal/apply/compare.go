package apply

import (
	"bytes"
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareFile returns what must be done so that a file is as planned, or "".
func (r *run) compareFile(want *resource.File) (Action, error) {
	have, err := r.Host.Stat(want.Path)
	if err != nil {
		return "", err
	}
	if over, err := r.over(want); err != nil || over && !want.Stays {
		if have.Kind == RegularFile {
			return Removed, err
		}
		return "", err
	}
	switch have.Kind {
	case Absent:
		return Created, nil
	case Symlink:
		return Updated, nil
	case RegularFile:
	default:
		return "", fmt.Errorf("%s is a %s, not a regular file: remove it", want.Path, have.Kind)
	}
	if have.Size != int64(len(want.Content)) {
		return Updated, nil
	}
	content, err := r.Host.ReadFile(want.Path, int64(len(want.Content)))
	if err != nil {
		return "", err
	}
	if !bytes.Equal(content, want.Content) {
		return Updated, nil
	}
	if have.Mode != want.Mode || have.wrongOwner(want.UID, want.GID) {
		return Corrected, nil
	}
	return "", nil
}

// over reports whether all replacements of a file exist and are not empty. A file is empty if its writer did not sync
// it before a power cut.
func (r *run) over(file *resource.File) (bool, error) {
	for _, path := range file.Until {
		if there, err := r.written(path); !there || err != nil {
			return false, err
		}
	}
	return file.Temporary(), nil
}

// effective returns a differing resource, without its effects if nothing reads it any more.
func (r *run) effective(res resource.Resource) (resource.Resource, error) {
	if file, ok := res.Spec.(*resource.File); ok {
		over, err := r.over(file)
		if over {
			res.Effects = resource.Effects{}
		}
		return res, err
	}
	return res, nil
}

// maxLinks is how many symbolic links are followed.
const maxLinks = 8

// written reports whether a path is a non-empty file, or a link to one.
func (r *run) written(name string) (bool, error) {
	for range maxLinks {
		have, err := r.Host.Stat(name)
		if err != nil || have.Kind != Symlink {
			return have.Kind == RegularFile && have.Size > 0, err
		}
		if !path.IsAbs(have.Target) {
			have.Target = path.Join(path.Dir(name), have.Target)
		}
		name = path.Clean(have.Target)
	}
	return false, nil
}

func (e Entry) wrongOwner(uid, gid int) bool {
	return e.Owned && (e.UID != uid || e.GID != gid)
}

func (r *run) compareDirectory(want *resource.Directory) (Action, error) {
	have, err := r.Host.Stat(want.Path)
	if err != nil {
		return "", err
	}
	switch have.Kind {
	case Absent:
		return Created, nil
	case Directory:
	default:
		return "", fmt.Errorf("%s is a %s, not a directory: remove it", want.Path, have.Kind)
	}
	if have.Mode != want.Mode || have.wrongOwner(want.UID, want.GID) {
		return Corrected, nil
	}
	return "", nil
}

func (r *run) compareSymlink(want *resource.Symlink) (Action, error) {
	have, err := r.Host.Stat(want.Path)
	switch {
	case err != nil:
		return "", err
	case have.Kind == Absent:
		return Created, nil
	case have.Kind == Symlink && have.Target == want.Target:
		return "", nil
	case have.Kind == Symlink || have.Kind == RegularFile:
		return Updated, nil
	}
	return "", fmt.Errorf("%s is a %s, not a symbolic link: remove it", want.Path, have.Kind)
}
