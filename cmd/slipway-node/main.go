// Command slipway-node turns the machine it runs on into a Kubernetes node.
//
// It also answers to the name aks-node-controller, with that program's commands, flags, paths and
// exit meaning.
package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/profile"
)

func main() {
	os.Exit(run(asked(context.Background()), filepath.Base(os.Args[0]), os.Args[1:], cli.Standard()))
}

const (
	// maxUnread limits the unread part of the log.
	maxUnread = 256 << 10
	// readPatience is how long the reader of standard output may take if the machine may have been changed; the result
	// is published by then. logPatience is the limit for the log's reader, and for any reader of a program that is
	// asked to end.
	readPatience = time.Minute
	logPatience  = 2 * time.Second
)

// run runs the command line of the program that is called by name, and returns its exit code. When ctx is done, it ends
// its work, and still publishes a result. A reader of its output, or a missing one, does not delay the work.
func run(ctx context.Context, name string, args []string, s cli.Streams) int {
	out, log := cli.NewBacklog(s.Out, 0), cli.NewBacklog(s.Err, maxUnread)
	app := &app{family: profile.OfProgram(name)}
	code := command.Run(ctx, app.command, args, cli.Streams{In: s.In, Out: out, Err: log})
	if err := flush(ctx, out, app.patience(ctx)); err != nil {
		failed := cli.Report(log, program, command.Failed("standard output: %w", command.Pathless(err)))
		if code == exitcode.Success && !app.changes {
			code = failed
		}
	}
	app.reportLost(log)
	_ = flush(context.WithoutCancel(ctx), log, logPatience)
	return code
}

// patience is how long the reader of standard output may take. 0 means until ctx is done.
func (a *app) patience(ctx context.Context) time.Duration {
	switch {
	case ctx.Err() != nil:
		return logPatience
	case a.changes:
		return readPatience
	}
	return 0
}

// flush waits until an output has been read.
func flush(ctx context.Context, b *cli.Backlog, patience time.Duration) error {
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
	}
	return b.Flush(ctx)
}

// reportLost logs how much of the log could not be written, if the log can be written now.
func (a *app) reportLost(log *cli.Backlog) {
	if a.log == nil {
		return
	}
	unread, unwritten := log.Dropped(), 0
	if a.logFile != nil {
		unwritten = a.logFile.Dropped()
	}
	if unread+unwritten > 0 {
		a.log.Warn("a part of the log is lost", "notRead", unread, "notWritten", unwritten)
	}
}
