package difference

import "github.com/slipway-dev/slipway/internal/resource"

// Class is what a change takes. A greater one includes what a smaller one takes.
type Class = resource.Class

// The classes.
const (
	None    = resource.None
	Reload  = resource.Reload
	Restart = resource.Restart
	Drain   = resource.Drain
	Reboot  = resource.Reboot
	Replace = resource.Replace
)

// Classes are the names of all classes, the smallest first.
func Classes() []string { return resource.Classes() }

// ParseClass returns the class of a name.
func ParseClass(name string) (Class, error) { return resource.ParseClass(name) }
