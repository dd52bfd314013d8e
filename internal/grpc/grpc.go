// Package grpc calls a server on a Unix socket: calls of one message and one answer, which is all that the agent needs
// of a container runtime (gRPC over HTTP/2). It uses the HTTP/2 of net/http.
//
// The package refuses streams, compression, TLS, and messages of more than 16 KiB, unless the caller accepts more. internal/cri and internal/probe call
// it.
package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/redact"
)

const (
	// prefixSize is the size of a message's prefix: whether it is compressed, and its length.
	prefixSize = 5
	// maxMessage limits a message. An answer has some hundred bytes, and a request with a token some thousand.
	maxMessage = 16<<10 - prefixSize
	// maxShown limits a server's text in an error.
	maxShown = 512
)

// Statuses of a call (gRPC: status codes).
const (
	ok = 0
	// Unimplemented is the status of a method that the server does not have.
	Unimplemented = 12
)

// StatusError is a gRPC status other than OK.
type StatusError struct {
	Method, Message string
	Code            int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s returned gRPC status %d: %s", e.Method, e.Code, e.Message)
}

// unanswered is an HTTP error, whose text may contain a server's text.
type unanswered struct{ error }

func (e unanswered) Error() string {
	return "does not answer: " + redact.Line(e.error.Error(), maxShown)
}
func (e unanswered) Unwrap() error { return e.error }

// Conn is a connection to a server. It makes one call after the other.
type Conn struct {
	http *http.ClientConn
	// limit is the size of the largest answer.
	limit int
}

// Dial connects to the socket at a path.
func Dial(ctx context.Context, socket string) (*Conn, error) {
	return dial(ctx, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	})
}

func dial(ctx context.Context, connect func(ctx context.Context, network, address string) (net.Conn, error)) (*Conn, error) {
	// No ping checks whether the server is there: a socket is closed with its process, and a server that uses grpc-go
	// ends a connection with more than one ping in five minutes (grpc-go: keepalive.EnforcementPolicy), and a pull can
	// take longer.
	transport := &http.Transport{DialContext: connect, DisableCompression: true, MaxResponseHeaderBytes: maxMessage, Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	conn, err := transport.NewClientConn(ctx, "http", "localhost:80") // the address is not used
	if err != nil {
		return nil, err
	}
	return &Conn{conn, maxMessage}, nil
}

// Accept sets the size of the largest answer, for answers with lists.
func (c *Conn) Accept(limit int) { c.limit = limit }

// Close ends the connection.
func (c *Conn) Close() error { return c.http.Close() }

// Call makes a call with a message, and returns the answer's message. Its error is a *StatusError if the server rejects
// the call, and the context's if that has ended.
func (c *Conn) Call(ctx context.Context, method string, message []byte) ([]byte, error) {
	if len(message) > maxMessage {
		return nil, fmt.Errorf("%s: the message has %d bytes, and at most %d are sent", method, len(message), maxMessage)
	}
	body := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+method, bytes.NewReader(append(body, message...)))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {"slipway-node"}}
	response, err := c.http.RoundTrip(request)
	if err != nil {
		return nil, ended(ctx, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, prefixSize+int64(c.limit)+1))
	switch {
	case err != nil:
		return nil, ended(ctx, err)
	case len(answer) > prefixSize+c.limit:
		return nil, fmt.Errorf("the answer to %s has more than %d bytes", method, c.limit)
	}
	return result(method, response, answer)
}

// ended is why there is no answer.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return unanswered{err}
}

// result returns the message of an answer, or its error.
func result(method string, response *http.Response, body []byte) ([]byte, error) {
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/grpc") {
		return nil, fmt.Errorf("is not a gRPC server: HTTP status %d", response.StatusCode)
	}
	status := response.Trailer
	if status.Get("Grpc-Status") == "" {
		status = response.Header // an answer without a message has its status there
	}
	code, err := strconv.Atoi(status.Get("Grpc-Status"))
	if err != nil {
		return nil, fmt.Errorf("the answer to %s has no gRPC status", method)
	}
	if code != ok {
		text, err := url.PathUnescape(status.Get("Grpc-Message"))
		if err != nil {
			text = status.Get("Grpc-Message")
		}
		return nil, &StatusError{method, redact.Line(text, maxShown), code}
	}
	if len(body) < prefixSize || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:prefixSize])) != uint64(len(body)-prefixSize) {
		return nil, fmt.Errorf("the answer to %s is damaged", method)
	}
	return body[prefixSize:], nil
}
