package resource

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/place"
)

// Mount is a directory that is mounted at another one (mount(8), bind). It is mounted before anything below it is
// compared or written.
type Mount struct {
	// Where is the mount point, What the mounted directory. Missing ones are created.
	Where string `json:"where"`
	What  string `json:"what"`
	// Disk is the mount point, above What, of a separate disk. Another program mounts it, perhaps later in the boot.
	// Without that disk nothing is mounted. Empty means no separate disk.
	Disk string `json:"disk,omitempty"`
}

// Kind implements Spec.
func (*Mount) Kind() string { return "Mount" }

// Name implements Spec.
func (m *Mount) Name() string { return m.Where }

// Paths implements Spec. A mount is not on the disk.
func (*Mount) Paths() []string { return nil }

// Valid implements Spec.
func (m *Mount) Valid() error {
	if reason := place.DataDirectory.Check(m.What); reason != "" {
		return fmt.Errorf("%q, to be mounted at %s, %s", m.What, m.Where, reason)
	}
	if below(m.What, m.Where) || below(m.Where, m.What) {
		return fmt.Errorf("%s cannot be mounted at %s: one is within the other", m.What, m.Where)
	}
	if m.Disk != "" && (m.Disk == m.What || !below(m.What, m.Disk)) {
		return fmt.Errorf("%s, to be mounted at %s, is not on the disk at %s", m.What, m.Where, m.Disk)
	}
	return checkPath(m.Where)
}

// below reports whether a path is a directory, or inside it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// Describe implements Spec.
func (m *Mount) Describe() Description { return Description{Title: m.Where, What: "<- " + m.What} }

// Swap is an active swap file.
type Swap struct {
	Path string `json:"path"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// Disk is the mount point, above Path, of a separate disk. Another program mounts it, perhaps later in the boot.
	// Without that disk there is no swap file. Empty means no separate disk.
	Disk string `json:"disk,omitempty"`
	// ExitCodes are the provisioning's exit codes by cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// MinSwap is the size of the smallest swap file: ten pages (mkswap(8)).
const MinSwap = 10 * 4096

// Kind implements Spec.
func (*Swap) Kind() string { return "Swap" }

// Name implements Spec.
func (s *Swap) Name() string { return s.Path }

// Paths implements Spec. It is created as a kernel setting while the machine runs, and not with the files.
func (*Swap) Paths() []string { return nil }

// swapNames are the allowed names of a swap file: nothing else is ever removed under these names.
var swapNames = []string{"swapfile", "swap.img"}

// Valid implements Spec.
func (s *Swap) Valid() error {
	if reason := place.DataDirectory.Check(s.Path); reason != "" {
		return fmt.Errorf("swap file %q %s", s.Path, reason)
	}
	if !slices.Contains(swapNames, path.Base(s.Path)) {
		return fmt.Errorf("swap file %q has another name than %s", s.Path, strings.Join(swapNames, ", "))
	}
	if s.Bytes < MinSwap {
		return fmt.Errorf("swap file %s has %d bytes, and needs %d at least", s.Path, s.Bytes, MinSwap)
	}
	if s.Disk != "" && !below(s.Path, s.Disk) {
		return fmt.Errorf("swap file %s is not on the disk at %s", s.Path, s.Disk)
	}
	return nil
}

// Describe implements Spec.
func (s *Swap) Describe() Description {
	return Description{Title: s.Path, What: fmt.Sprintf("%d MiB", s.Bytes>>20)}
}
