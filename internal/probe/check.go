// Package probe waits until a check of a plan passes: a unit is active and stays active, the API server answers, the
// container runtime answers, a server is reachable, a health endpoint reports success, the Node's lease is renewed, a
// file exists or has a digest. If a check fails, its error names the cause and the endpoint.
//
// The package only asks. It follows no redirect, uses only a check's proxy, checks health on loopback only, limits what
// it reads, and shows of an answer only what internal/redact allows. internal/host's Machine calls it.
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

// Cluster is the machine's access to its cluster and to its container runtime.
type Cluster struct {
	// Files are the machine's files, which include the kubelet's credentials.
	Files *rootfs.Tree
}

// Wait waits until a check passes on the machine with these files and units, no longer than ctx and the check's
// timeout. Its error is a [*apply.CheckError].
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
	case check.Manifest != nil:
		return probeManifest(files, check.Manifest)
	case check.Digest != nil:
		return probeDigest(files, check.Digest)
	case check.PathExists != "":
		return probePath(ctx, files, check.PathExists)
	}
	return fmt.Errorf("check %q: checks nothing", check.Label)
}

// credentialsIn reads credentials on a machine.
func credentialsIn(files *rootfs.Tree) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		// The kubelet's file is a link to the newest one, which it replaces (Kubernetes: client-go, certificate store).
		return files.ReadLinked(path, maxCredential)
	}
}

// probePath waits until a path exists.
func probePath(ctx context.Context, files *rootfs.Tree, path string) error {
	_, err := files.WaitForFiles(ctx, path)
	if err == nil {
		return nil
	}
	err = errors.Unwrap(err) // it names the path, and the check's error does, too
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("does not exist: %w", err)
	}
	return &apply.CheckError{Cause: resource.CauseMissing, Endpoint: path, Err: err}
}

// probeUnit waits until a unit is active, and then as long as it must stay active.
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
