package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareCopy wants a file to be there. Which one it is does not matter, unless an earlier plan brought it from elsewhere:
// programs that bring their own in its place, such as the network's own pods, are not fought with.
func (r *run) compareCopy(want *resource.Copy) (Action, error) {
	if lacking, err := r.lacks(want); lacking || err != nil {
		return "", err
	}
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
	others, err := r.otherSources(want)
	if err != nil {
		return "", err
	}
	for _, other := range others {
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

// lacks reports whether there is nothing to copy, and need not be: it is of a component that a directory does not have, or that
// came without it.
func (r *run) lacks(c *resource.Copy) (bool, error) {
	r.outcome.mu.Lock()
	absent := slices.ContainsFunc(r.outcome.absent, func(store string) bool { return strings.HasPrefix(c.Source, store) })
	r.outcome.mu.Unlock()
	if absent {
		return true, nil
	}
	if !c.Optional {
		return false, nil
	}
	have, err := r.Host.Stat(c.Source)
	return have.Kind != RegularFile, err
}

// otherSources are what a copy is brought over: what it says itself, and other stores of its component.
func (r *run) otherSources(c *resource.Copy) ([]string, error) {
	component, file, stored := resource.StoreOf(c.Source)
	if !stored {
		return c.Over, nil
	}
	stores, err := r.Host.Stores(component)
	others := slices.Clone(c.Over)
	for _, store := range stores {
		if other := store + "/" + file; other != c.Source {
			others = append(others, other)
		}
	}
	return others, err
}
