// Package session holds what a run of the agent must survive of the session that started it: signals, a terminal
// that goes away, and readers of its output that end or stop reading. Its tests run the real program, built with the
// tag failpoint, on a directory. The program stops before each rename, something happens to it there, and it goes on.
//
// However it ends, it has published how, the machine is as the new contract or as the old one makes it, and the same
// command once more makes it as if nothing had happened. What only concerns its output does not even end it.
//
// Its death is what test/crash is about. Nobody imports this package.
package session
