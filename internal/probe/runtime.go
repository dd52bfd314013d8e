package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/grpc"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The requests to a runtime. containerd answers the first one if it serves at all, whatever the state of its plug-ins
// (containerd: services/healthcheck, 1.x; plugins/services/healthcheck, 2.x). It answers the second one only as a CRI
// runtime, so not if that plug-in is disabled or its configuration is invalid. The kubelet begins with the second one
// as well (Kubernetes: CRI, v1).
const (
	healthMethod  = "/grpc.health.v1.Health/Check"
	versionMethod = "/runtime.v1.RuntimeService/Version"
)

// probeRuntime waits until a container runtime answers.
func probeRuntime(ctx context.Context, ready *resource.RuntimeReady) error {
	var err error
	if !path.IsAbs(ready.Socket) {
		err = errors.New("is not the absolute path of a socket")
	} else {
		err = persist(ctx, func(ctx context.Context) error { return askRuntime(ctx, ready.Socket) })
	}
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseUnhealthy, Endpoint: ready.Socket, Err: err}
	}
	return nil
}

// askRuntime sends the requests once, over one connection.
func askRuntime(ctx context.Context, socket string) error {
	conn, err := grpc.Dial(ctx, socket)
	if err != nil {
		return fmt.Errorf("does not answer: %w", err)
	}
	defer conn.Close()
	message, err := conn.Call(ctx, healthMethod, nil)
	var status *grpc.StatusError
	switch {
	case errors.As(err, &status) && status.Code == grpc.Unimplemented:
		// The service is optional, and other runtimes do not have it.
	case err != nil:
		return err
	case !serving(message):
		return errors.New("the runtime reports that it is not serving")
	}
	_, err = conn.Call(ctx, versionMethod, nil)
	if errors.As(err, &status) && status.Code == grpc.Unimplemented {
		return fmt.Errorf("the runtime answers, but does not serve version v1 of the CRI: its CRI plug-in is disabled or failed to load: %w", err)
	}
	return err
}

// serving reads a HealthCheckResponse: its first field, a varint, is 1 for SERVING (gRPC: health checking protocol). A
// status has a single byte.
func serving(message []byte) bool { return bytes.HasPrefix(message, []byte{1 << 3, 1}) }
