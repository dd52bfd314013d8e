package apply

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareCopy wants a file to be there. Which one it is does not matter, unless an earlier plan brought it from elsewhere:
// programs that bring their own in its place, such as the network's own pods, are not fought with.
func (r *run) compareCopy(want *resource.Copy) (Action, error) {
	have, err := r.Host.Stat(want.Path)
	switch {
	case err != nil:
		return "", err
	case have.Kind == Absent:
		return Created, nil
	case have.Kind == Symlink:
		return "", nil
	case have.Kind != RegularFile:
		return "", fmt.Errorf("%s is a %s, not a regular file: remove it", want.Path, have.Kind)
	}
	for _, other := range want.Over {
		if same, err := r.Host.SameFile(want.Path, other); same || err != nil {
			return Updated, err
		}
	}
	return "", nil
}

// staleCopy reports whether a copy is to be removed: where it is still what was copied.
func (r *run) staleCopy(was *resource.Copy) (Action, error) {
	if same, err := r.Host.SameFile(was.Path, was.Source); !same || err != nil {
		return "", err
	}
	return Removed, nil
}
