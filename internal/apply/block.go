package apply

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// composed is the action of writing a file that has blocks: other programs' lines stay.
const composed Action = "composed"

// blockMode is the mode of a file that is created for a block. An existing file keeps its mode.
const blockMode = 0o644

// compareBlock returns what must be done so that a file has a block, or "".
func (r *run) compareBlock(want *resource.Block) (Action, error) {
	file, err := r.shared(want.Path)
	if err != nil {
		return "", err
	}
	if file == nil {
		return Created, nil
	}
	content, err := want.Into(file.Content)
	if err != nil || bytes.Equal(content, file.Content) {
		return "", err
	}
	return Updated, nil
}

// staleBlock reports whether there is a block to be removed.
func (r *run) staleBlock(block *resource.Block) (Action, error) {
	have, err := r.Host.Stat(block.Path)
	if err != nil || have.Kind != RegularFile || have.Size > resource.MaxBlockFile {
		return "", err
	}
	file, err := r.shared(block.Path)
	if err != nil {
		return "", err
	}
	if _, found := block.OutOf(file.Content); !found {
		return "", nil
	}
	return Removed, nil
}

// shared reads a file that other programs also write. It returns nil if the file does not exist.
func (r *run) shared(path string) (*resource.File, error) {
	have, err := r.Host.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case have.Kind == Absent:
		return nil, nil
	case have.Kind != RegularFile:
		return nil, fmt.Errorf("%s is a %s, not a regular file: a block cannot be added to it", path, have.Kind)
	}
	content, err := r.Host.ReadFile(path, resource.MaxBlockFile)
	if err != nil {
		return nil, err
	}
	file := &resource.File{Path: path, Mode: have.Mode, Content: content}
	if have.Owned {
		file.UID, file.GID = have.UID, have.GID
	}
	return file, nil
}

// compose adds a block to a staged file, or removes it there. It reads the file again instead of using the comparison's
// content, because other programs write it, too. A file that becomes empty is removed.
func (r *run) compose(d difference) error {
	block := d.Spec.(*resource.Block)
	at := slices.IndexFunc(r.writes, func(w difference) bool { return w.Spec.Paths()[0] == block.Path })
	var file *resource.File
	if at >= 0 {
		file = r.writes[at].Spec.(*resource.File)
	} else {
		var err error
		if file, err = r.shared(block.Path); err != nil {
			return err
		}
		if file == nil {
			file = &resource.File{Path: block.Path, Mode: blockMode}
		}
		at = len(r.writes)
		r.writes = append(r.writes, difference{d.Resource, composed})
		r.writes[at].Spec = file
	}
	if d.action == Removed {
		file.Content, _ = block.OutOf(file.Content)
		return nil
	}
	content, err := block.Into(file.Content)
	if err == nil {
		file.Content = content
	}
	return err
}
