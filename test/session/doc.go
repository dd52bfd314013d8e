// Package session tests that a run of the agent survives the end of the session that started it: signals, a terminal that goes
// away, and readers of its output that end or stop reading. Its tests run the real program, built with the tag failpoint, on a
// directory. The program stops before each rename, the test does something to it, and it continues.
//
// However the program ends, it has published its result, the machine is as the new contract or the old one requires, and the same
// command once more finishes the work as if nothing had happened. An event that concerns only its output does not even end it.
//
// test/crash tests the program's death. No package imports this one.
package session
