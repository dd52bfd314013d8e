package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
)

// What a runtime is asked. containerd says by the first whether it serves at all, and does so whatever
// becomes of its plug-ins (containerd: services/healthcheck, 1.x; plugins/services/healthcheck, 2.x); by
// the second whether it is a runtime of the CRI, which it is not where that plug-in is disabled or its
// configuration is refused. The kubelet begins with the second as well (Kubernetes: CRI, v1).
const (
	healthMethod  = "/grpc.health.v1.Health/Check"
	versionMethod = "/runtime.v1.RuntimeService/Version"
)

// The statuses of gRPC that are told from others (gRPC: status codes).
const (
	grpcOK            = 0
	grpcUnimplemented = 12
)

// maxGRPCAnswer bounds an answer, which has some hundred bytes.
const maxGRPCAnswer = 64 << 10

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

// askRuntime asks once, over one connection.
func askRuntime(ctx context.Context, socket string) error {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true) // gRPC has no other where there is no TLS
	transport := &http.Transport{
		Protocols:              &protocols,
		MaxResponseHeaderBytes: 64 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	// A transport's own connections are shared by calls in ways that it does not say, and one with a call that was given
	// up may stay open in it.
	conn, err := transport.NewClientConn(ctx, "http", "localhost:80")
	if err != nil {
		return fmt.Errorf("does not answer: %w", err)
	}
	defer conn.Close()
	message, err := callGRPC(ctx, conn, healthMethod)
	var status *grpcError
	switch {
	case errors.As(err, &status) && status.code == grpcUnimplemented:
		// The service is optional, and other runtimes have not got it.
	case err != nil:
		return err
	case !serving(message):
		return errors.New("the runtime reports that it is not serving")
	}
	_, err = callGRPC(ctx, conn, versionMethod)
	if errors.As(err, &status) && status.code == grpcUnimplemented {
		return fmt.Errorf("the runtime answers, but does not serve version v1 of the CRI: its CRI plug-in is disabled or failed to load: %w", err)
	}
	return err
}

// serving reads a HealthCheckResponse: its first field, a varint, is 1 for SERVING (gRPC: health
// checking protocol). A status has a single byte.
func serving(message []byte) bool { return bytes.HasPrefix(message, []byte{1 << 3, 1}) }

// grpcError is a gRPC status other than OK.
type grpcError struct {
	method, message string
	code            int
}

func (e *grpcError) Error() string {
	return fmt.Sprintf("%s returned gRPC status %d: %s", e.method, e.code, e.message)
}

// callGRPC makes a call with an empty message, and returns the answer's (gRPC over HTTP/2).
func callGRPC(ctx context.Context, conn *http.ClientConn, method string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+method, bytes.NewReader(make([]byte, 5)))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {"slipway-node"}}
	response, err := conn.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/grpc") {
		return nil, fmt.Errorf("is not a gRPC server: HTTP status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxGRPCAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer to %s is incomplete: %w", method, err)
	}
	// An answer without a message has its status in the headers.
	trailer := response.Trailer
	if trailer.Get("Grpc-Status") == "" {
		trailer = response.Header
	}
	code, err := strconv.Atoi(trailer.Get("Grpc-Status"))
	if err != nil {
		return nil, fmt.Errorf("the answer to %s has no gRPC status", method)
	}
	if code != grpcOK {
		text, err := url.PathUnescape(trailer.Get("Grpc-Message"))
		if err != nil {
			text = trailer.Get("Grpc-Message")
		}
		return nil, &grpcError{method, redact.Line(text, maxShownAnswer), code}
	}
	if len(body) < 5 || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:5])) != uint64(len(body)-5) {
		return nil, fmt.Errorf("the answer to %s is damaged", method)
	}
	return body[5:], nil
}
