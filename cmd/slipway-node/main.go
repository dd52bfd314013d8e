// Command slipway-node turns the machine it runs on into a Kubernetes node.
//
// It also answers to the name aks-node-controller, with that program's commands, flags, paths and
// exit meaning.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

func main() { os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:], cli.Standard())) }

// run runs the command line of the program that is called by name, and returns its exit code. A
// signal that asks it to end ends what it does, and is still followed by a published result.
func run(name string, args []string, s cli.Streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := &app{Streams: s, asAKS: name == aksName}
	return command.Run(ctx, app.command(), args, s)
}
