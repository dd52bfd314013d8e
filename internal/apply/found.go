package apply

import "github.com/slipway-dev/slipway/internal/resource"

// maxFound limits a file whose content is shown beside the planned content.
const maxFound = 1 << 20

// Found returns what the machine has at a resource's path, and reports whether that is of the same kind. For a kind
// that cannot be read back, such as a unit, it returns the planned resource: an apply would change it, and more is not
// known.
func Found(host Host, spec resource.Spec) (resource.Spec, bool) {
	found := diskKinds[spec.Kind()].found
	if found == nil {
		found = liveKinds[spec.Kind()].found
	}
	if found == nil {
		return spec, true
	}
	return found(host, spec)
}

func foundFile(host Host, spec resource.Spec) (resource.Spec, bool) {
	have := *spec.(*resource.File)
	entry, err := host.Stat(have.Path)
	if err != nil || entry.Kind != RegularFile {
		return spec, false
	}
	if have.Content, err = host.ReadFile(have.Path, maxFound); err != nil {
		have.Content = nil
	}
	have.Mode = entry.Mode
	if entry.Owned {
		have.UID, have.GID = entry.UID, entry.GID
	}
	return &have, true
}

func foundDirectory(host Host, spec resource.Spec) (resource.Spec, bool) {
	have := *spec.(*resource.Directory)
	entry, err := host.Stat(have.Path)
	have.Mode = entry.Mode
	if entry.Owned {
		have.UID, have.GID = entry.UID, entry.GID
	}
	return &have, err == nil && entry.Kind == Directory
}

func foundSymlink(host Host, spec resource.Spec) (resource.Spec, bool) {
	have := *spec.(*resource.Symlink)
	entry, err := host.Stat(have.Path)
	have.Target = entry.Target
	return &have, err == nil && entry.Kind == Symlink
}

func foundCopy(host Host, spec resource.Spec) (resource.Spec, bool) {
	entry, err := host.Stat(spec.Name())
	return spec, err == nil && entry.Kind == RegularFile
}

func foundSysctl(host Host, spec resource.Spec) (resource.Spec, bool) {
	have := *spec.(*resource.Sysctl)
	var err error
	have.Value, err = host.Sysctl(have.Key)
	return &have, err == nil
}
