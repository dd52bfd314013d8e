package resource

import (
	"fmt"
	"slices"
	"strings"
)

// Class is what a change needs. A greater class includes the smaller ones.
type Class int

// The classes.
const (
	// None needs nothing but the change itself.
	None Class = iota
	// Reload needs running units, or systemd, to read their configuration again.
	Reload
	// Restart needs units to start again; pods keep running.
	Restart
	// Drain needs a node without pods.
	Drain
	// Reboot needs a drained node and a reboot.
	Reboot
	// Replace is impossible on this machine, or as this Node.
	Replace
)

var classes = []string{"none", "reload", "restart", "drain", "reboot", "replace"}

// Classes are the names of all classes, smallest first.
func Classes() []string { return slices.Clone(classes) }

// ParseClass returns a class by its name.
func ParseClass(name string) (Class, error) {
	if i := slices.Index(classes, name); i >= 0 {
		return Class(i), nil
	}
	return None, fmt.Errorf("unknown class %q; use one of %s", name, strings.Join(classes, ", "))
}

// String is the class's name.
func (c Class) String() string {
	if c < None || c > Replace {
		return fmt.Sprintf("Class(%d)", int(c))
	}
	return classes[c]
}

// Words describe what the class needs: "restart", "drain needed".
func (c Class) Words() string {
	if c > Restart {
		return c.String() + " needed"
	}
	return c.String()
}

// MarshalText writes the class's name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a class's name.
func (c *Class) UnmarshalText(text []byte) error {
	read, err := ParseClass(string(text))
	if err == nil {
		*c = read
	}
	return err
}
