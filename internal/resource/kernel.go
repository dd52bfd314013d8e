package resource

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Sysctl is a kernel parameter, by dotted name. Optional ones may be missing from the kernel.
type Sysctl struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Optional bool   `json:"optional,omitempty"`
}

// Kind implements Spec.
func (*Sysctl) Kind() string { return "Sysctl" }

// Name implements Spec.
func (s *Sysctl) Name() string { return s.Key }

// Paths implements Spec.
func (*Sysctl) Paths() []string { return nil }

// Valid implements Spec.
func (s *Sysctl) Valid() error { return named(s) }

// Describe implements Spec.
func (s *Sysctl) Describe() Description { return setting(s.Key, s.Value, s.Optional) }

// SysctlDirs are systemd-sysctl's directories. If a file name is in several, the first directory counts (sysctl.d(5)).
var SysctlDirs = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"}

// ParameterName returns the dotted name of a kernel parameter in a file of such a directory. If its first separator is a slash, dots are
// part of names (sysctl.d(5)).
func ParameterName(key string) string {
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '.' {
		return key
	}
	return strings.NewReplacer("/", ".", ".", "/").Replace(key)
}

func (s *Sysctl) atBoot() (argv []string, optional bool) {
	return []string{"sysctl", "-q", "-w", s.Key + "=" + s.Value}, s.Optional
}

// Attribute is a file of sysfs with a kernel setting (sysfs(5)). Optional ones may be missing from the kernel.
type Attribute struct {
	Path string `json:"path"`
	// Value is one word. If the kernel shows all choices and marks one, "always [madvise] never", it is the marked one.
	Value    string `json:"value"`
	Optional bool   `json:"optional,omitempty"`
}

// attributeRoots are the directories of sysfs in which a plan sets attributes.
var attributeRoots = []string{"/sys/kernel/mm/"}

// Kind implements Spec.
func (*Attribute) Kind() string { return "Attribute" }

// Name implements Spec.
func (a *Attribute) Name() string { return a.Path }

// Paths implements Spec. Sysfs is not on the disk.
func (*Attribute) Paths() []string { return nil }

// Valid implements Spec.
func (a *Attribute) Valid() error {
	if path.Clean(a.Path) != a.Path || !slices.ContainsFunc(attributeRoots, func(root string) bool { return strings.HasPrefix(a.Path, root) }) {
		return fmt.Errorf("attribute %q is not below %s", a.Path, strings.Join(attributeRoots, ", "))
	}
	if len(strings.Fields(a.Value)) != 1 || strings.TrimSpace(a.Value) != a.Value {
		return fmt.Errorf("attribute %s: its value is not one word", a.Path)
	}
	return nil
}

// Describe implements Spec.
func (a *Attribute) Describe() Description { return setting(a.Path, a.Value, a.Optional) }

// atBoot makes systemd write it: a file of the plan holds the value (tmpfiles.d(5)).
func (a *Attribute) atBoot() (argv []string, optional bool) {
	return []string{"systemd-tmpfiles", "--create", "--prefix=" + a.Path}, a.Optional
}

func setting(name, value string, optional bool) Description {
	d := Description{Title: name + " = " + value}
	if optional {
		d.What = "where the kernel has it"
	}
	return d
}

// Module is a kernel module that is loaded.
type Module struct {
	Module string `json:"module"`
}

// Kind implements Spec.
func (*Module) Kind() string { return "Module" }

// Name implements Spec.
func (m *Module) Name() string { return m.Module }

// Paths implements Spec.
func (*Module) Paths() []string { return nil }

// Valid implements Spec.
func (m *Module) Valid() error { return named(m) }

// Describe implements Spec.
func (m *Module) Describe() Description { return Description{Title: m.Module} }

func (m *Module) atBoot() (argv []string, optional bool) {
	return []string{"modprobe", m.Module}, false
}

// named requires a resource with a name.
func named(spec Spec) error {
	if spec.Name() == "" {
		return fmt.Errorf("a %s has no name", spec.Kind())
	}
	return nil
}
