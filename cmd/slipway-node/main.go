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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	app := &app{
		asAKS:  filepath.Base(os.Args[0]) == aksName,
		stdout: os.Stdout,
		stderr: os.Stderr,
	}
	command := app.command()
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(ctx)
	stop()
	os.Exit(cli.Report(os.Stderr, command.Use, err))
}
