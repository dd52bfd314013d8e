// Command e2e boots virtual machines, lets Slipway make nodes of them, and watches them join a real
// control plane. It needs root and Debian 12; see docs in test/e2e/README.md. The Makefile calls it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slipway-dev/slipway/test/e2e/parts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &parts.Store{Dir: filepath.Join(repo, ".cache", "e2e"), Repo: repo, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if err := s.InstallTools(ctx); err != nil {
		return err
	}
	for _, f := range []func(context.Context) (string, error){s.Kernel, s.Initrd, s.RootFS, s.Containerd, s.CNI, s.Payload, s.DebianContainerd, s.EtcdBinary, s.KubernetesBinaries} {
		d, err := f(ctx)
		if err != nil {
			return err
		}
		fmt.Println(d)
	}
	return nil
}
