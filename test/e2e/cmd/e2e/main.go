// Command e2e boots virtual machines, lets Slipway make nodes of them, and checks that they join a
// real control plane. It needs root and Debian 12; it installs everything else itself:
//
//	e2e run [CASE...]    run the named cases, or the core set; -h shows the flags
//	e2e boot [FLAGS]     measure how long each way of booting a node takes; -h shows the flags
//	e2e skew [KUBELET...] join nodes of each minor version of the kubelet, and write docs/support.md
//	e2e image            make the nodes' images only
//	e2e lab              bring up a cluster with one node, and leave it running
//	e2e lab-down         end it
//
// The Makefile calls it, from the root of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
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
	verb := "run"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "run":
		return outside(ctx, args)
	case "image":
		var cases []scenario.Case
		for _, kind := range []string{parts.ContainerdBuilt, parts.ContainerdDebian} {
			cases = append(cases, scenario.Case{Containerd: kind, Kubelet: parts.Kubernetes})
		}
		_, err := build(ctx, cases, parts.Kubernetes)
		return err
	case "lab":
		return standUp(ctx)
	case "lab-down":
		cache, err := cacheDir()
		if err != nil {
			return err
		}
		return standDown(ctx, cache)
	case "boot":
		return measureOutside(ctx, args)
	case "skew":
		return skewOutside(ctx, args)
	case "skewed":
		return skewInside(ctx, args)
	case "measure":
		return measureInside(ctx, args)
	case "inside":
		return inside(ctx, args)
	case "stand":
		return stand(ctx, args)
	}
	return fmt.Errorf("there is no %q: want run, boot, skew, image, lab or lab-down", verb)
}
