// Package probe waits until a check of a plan is true: a unit is active and stays so, the API server answers, the
// container runtime does, a server is reached, a health endpoint says that all is well, the Node's lease is renewed, a file is there. Where a
// check does not come true, its error names the cause and who was asked.
//
// It only asks. It follows no redirect, uses no proxy but the one that a check names, asks for health on the loopback alone, bounds what it reads, and
// shows of an answer only what internal/redact lets through. internal/host's Machine calls it.
package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// Cluster is what this machine asks of its cluster, and of its own container runtime.
type Cluster struct {
	// Files are those that the kubelet has its credentials in.
	Files *rootfs.Tree
}

// Wait waits until a check is true on the machine that has these files and units, for as long as ctx and the check's own
// timeout let it. Its error is a [*apply.CheckError].
func Wait(ctx context.Context, files *rootfs.Tree, units *systemd.Manager, check *resource.Check) error {
	ctx, cancel := context.WithTimeout(ctx, check.Deadline())
	defer cancel()
	switch {
	case check.UnitActive != "":
		return probeUnit(ctx, units, check)
	case check.APIServer != nil:
		return defaultProber.probe(ctx, check.APIServer)
	case check.RuntimeReady != nil:
		return probeRuntime(ctx, check.RuntimeReady)
	case check.Healthz != nil:
		return probeHealthz(ctx, check.Healthz)
	case check.Reachable != nil:
		return defaultProber.probeReachable(ctx, check.Reachable, files.ReadLinked)
	case check.LeaseRenewed != nil:
		return defaultProber.probeLease(ctx, check.LeaseRenewed, credentialsIn(files))
	case check.FreeName != nil:
		return defaultProber.probeFreeName(ctx, check.FreeName, credentialsIn(files), systemUUID(files))
	case check.PathExists != "":
		return probePath(ctx, files, check.PathExists)
	}
	return fmt.Errorf("check %q: checks nothing", check.Label)
}

// credentialsIn reads credentials on a machine.
func credentialsIn(files *rootfs.Tree) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		// The kubelet's is a link to the newest, which it replaces (Kubernetes: client-go, certificate store).
		return files.ReadLinked(path, maxCredential)
	}
}

// probePath waits until there is something at a path.
func probePath(ctx context.Context, files *rootfs.Tree, path string) error {
	_, err := files.WaitForFiles(ctx, path)
	if err == nil {
		return nil
	}
	err = errors.Unwrap(err) // it names the path, as the check's error does
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("does not exist: %w", err)
	}
	return &apply.CheckError{Cause: resource.CauseMissing, Endpoint: path, Err: err}
}

// probeUnit waits until a unit is active, and for as long as it must stay so.
func probeUnit(ctx context.Context, units *systemd.Manager, check *resource.Check) error {
	err := becomesActive(ctx, units, check)
	if err == nil && check.Steady > 0 {
		err = staysActive(ctx, units, check)
	}
	if err == nil {
		return nil
	}
	if _, has := errors.AsType[*systemd.UnitError](err); !has && !errors.Is(err, errUnsettled) {
		err = units.WithLog(ctx, check.UnitActive, err)
	}
	return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: check.UnitActive, Err: err}
}
