package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// compareCopy requires that a file exists. Its content does not matter, unless an earlier plan copied it from
// elsewhere: programs such as the network's pods replace it with their files, and the engine leaves those alone.
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

// staleCopy reports whether a copy must be removed: only if it is still the copied file.
func (r *run) staleCopy(was *resource.Copy) (Action, error) {
	if same, err := r.Host.SameFile(was.Path, was.Source); !same || err != nil {
		return "", err
	}
	return Removed, nil
}

// lacks reports whether the source is missing and may be missing: its component is not in a directory host, or does not
// contain this optional file.
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

// otherSources are the sources that this copy replaces: the ones it lists, and other stores of its component.
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
