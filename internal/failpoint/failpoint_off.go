//go:build !failpoint

package failpoint

// In what is delivered nothing comes between a change and its call: nobody reads the change, and there is no variable that
// anybody could set. A function that is nil would cost nothing that can be measured beside a system call either; but a
// switch that makes a provisioning fail is not to exist in a program that runs as root. TestNoFailpoints looks for one in it.

// Around returns what does one change of the host: the call itself.
func Around(_ Change, call func() error) func() error { return call }

// InOrder says that changes which may be made at the same time are made one after the other.
const InOrder = false
