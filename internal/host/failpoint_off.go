//go:build !failpoint

package host

// In what is delivered nothing comes between a change and its call: both functions are inlined, the mutation
// that nobody reads is not even made, and there is no variable that anybody could set. A function that is
// nil would cost nothing that can be measured beside a system call either; but a switch that makes a
// provisioning fail is not to exist in a program that runs as root. TestNoFailpoints looks for one in it.

// mutate does one change of the host by a system call, and again where a signal interrupted it.
func mutate(_ mutation, call func() error) error { return again(call) }

// pass does one change of the host that is more than a system call.
func pass(_ mutation, call func() error) error { return call() }
