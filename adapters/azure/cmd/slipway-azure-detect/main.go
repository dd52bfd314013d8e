// Command slipway-azure-detect writes the inputs of slipway launch for a cluster and a region: the file for its --cluster, the
// settings for its --settings, and the list for its --images.
//
// It reads from Azure and from the API server of a kubeconfig, and changes nothing there. It writes only the output file,
// completely or not at all. Documents go to standard output, messages to standard error. The exit code is 0 for success, 1 if a
// fact is missing, and 64 if the command line is wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-dev/slipway/internal/cli"
)

func main() { os.Exit(interruptible()) }

// interruptible runs the program until the user interrupts it.
func interruptible() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], cli.Standard(), world{environment: os.Getenv})
}
