// Command slipway-azure-detect writes what slipway launch needs to know of a cluster and a region: the file for its --cluster, the
// settings for its --settings, and the list for its --images.
//
// It asks Azure and the API server of a kubeconfig, and changes nothing there. It writes nothing but the file that it is told to
// write, as a whole or not at all. Documents go to standard output, what is said about them to standard error. The exit code is 0
// for success, 1 where something could not be found out, and 64 where the command line is wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-dev/slipway/internal/cli"
)

func main() { os.Exit(interruptible()) }

// interruptible runs the program until somebody interrupts it.
func interruptible() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], cli.Standard(), world{environment: os.Getenv})
}
