package resource

import (
	"fmt"
	"slices"
	"strings"
)

// Class is what a change takes. A greater one includes what a smaller one takes.
type Class int

// The classes.
const (
	// None takes nothing but the change itself.
	None Class = iota
	// Reload has units read again what has changed while they run, or systemd its units.
	Reload
	// Restart has units started again; pods keep running.
	Restart
	// Drain takes a node without pods.
	Drain
	// Reboot takes a drained node, and the machine started again.
	Reboot
	// Replace cannot be had on this machine, or not as this Node.
	Replace
)

var classes = []string{"none", "reload", "restart", "drain", "reboot", "replace"}

// Classes are the names of all classes, the smallest first.
func Classes() []string { return slices.Clone(classes) }

// ParseClass returns the class of a name.
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

// Words say what the class takes: "restart", "drain needed".
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
