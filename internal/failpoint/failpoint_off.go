//go:build !failpoint

package failpoint

// In the delivered program nothing is between a change and its call: nothing reads the change, and there is no variable
// that could be set. A nil function would also cost nothing measurable beside a system call; but a program that runs as
// root must not contain a switch that makes a provisioning fail. TestNoFailpoints checks that it has none.

// Around returns the call itself.
func Around(_ Change, call func() error) func() error { return call }

// InOrder reports that changes which could be parallel are made one after the other.
const InOrder = false
