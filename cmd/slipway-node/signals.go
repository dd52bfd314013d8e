package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// asking are the signals that ask a program to end. A terminal sends SIGINT and SIGQUIT for a key, and SIGHUP when it
// disappears, as sshd's does with its connection.
var asking = map[os.Signal]string{
	syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGHUP: "SIGHUP",
}

// request is the cause of a context that a signal has ended.
type request struct{ signal os.Signal }

// Error implements error.
func (r request) Error() string { return "asked to end by " + asking[r.signal] }

// Is makes it equal to a cancelled context.
func (r request) Is(target error) bool { return target == context.Canceled }

// asked returns a context that is done when a signal asks the program to end: the program ends its work, publishes the
// outcome, and rolls back a half-finished change. More signals have no effect, and no other signal of a session ends or
// stops the program, as long as it runs.
func asked(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for s := range asking {
		// nohup(1), and a shell that starts a program in the background, make it ignore these.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() { cancel(request{<-signals}) }()
	// If a Go program writes to a closed standard output or standard error, SIGPIPE ends it, unless it is notified of
	// that signal; SIGTSTP is a terminal's key that stops a program. No goroutine reads the channel. The signals are
	// not ignored, because commands that the program starts would then ignore them too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGTSTP)
	// These stop a background program that reads or writes its terminal. The kernel lets it continue only if they are
	// ignored: if they are handled, it sends them again as long as the program tries.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	return ctx
}
