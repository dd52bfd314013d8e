package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// asking are the signals that ask a program to end. A terminal sends SIGINT and SIGQUIT for a key, and SIGHUP when
// it is gone, as sshd's is with its connection.
var asking = map[os.Signal]string{
	syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGHUP: "SIGHUP",
}

// request is the cause of a context that a signal has ended.
type request struct{ signal os.Signal }

// Error implements error.
func (r request) Error() string { return "asked to end by " + asking[r.signal] }

// Is makes it the same as the end of any other context.
func (r request) Is(target error) bool { return target == context.Canceled }

// asked returns a context that is done when a signal asks the program to end: it ends what it does, publishes how it
// ended, and goes back where it has changed a node half. Asking more than once changes nothing, and no other signal
// of a session ends or stops the program, for as long as it runs.
func asked(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for s := range asking {
		// Who starts a program by nohup(1), or a shell that puts it into the background, has these ignored.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() { cancel(request{<-signals}) }()
	// Go ends a program by SIGPIPE that writes to a closed standard output or standard error, unless it is notified
	// of that signal; SIGTSTP is a terminal's key that stops a program in the middle. Nobody receives them. They are
	// not ignored, because commands that the program starts would ignore them too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGTSTP)
	// These stop a program in the background that reads or writes its terminal. The kernel lets it go on only where
	// they are ignored: where they are handled it sends them again, for as long as the program tries.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	return ctx
}
