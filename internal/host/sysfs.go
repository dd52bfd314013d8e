package host

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// Attribute returns a setting of sysfs: its file's content, or the marked choice, as in "always [madvise] never". If
// the kernel does not have it, the error is fs.ErrNotExist.
func (m *Machine) Attribute(path string) (string, error) {
	content, err := m.ReadFile(path, maxParameter)
	if err != nil {
		return "", fmt.Errorf("attribute %s: %w", path, err)
	}
	text := fields(string(content))
	if _, after, found := strings.Cut(text, "["); found {
		if chosen, _, closed := strings.Cut(after, "]"); closed {
			return chosen, nil
		}
	}
	return text, nil
}

// SetAttribute sets a setting of sysfs until the next boot.
func (m *Machine) SetAttribute(path, value string) error {
	if err := (&resource.Attribute{Path: path, Value: value}).Valid(); err != nil {
		return err
	}
	set := failpoint.Change{Kind: failpoint.Attribute, Name: path, To: value}
	if err := failpoint.Pass(set, func() error { return m.Overwrite(path, value+"\n") }); err != nil {
		return fmt.Errorf("attribute %s: %w", path, rootfs.Failed(fmt.Sprintf("set to %q at", value), path, err))
	}
	return nil
}
