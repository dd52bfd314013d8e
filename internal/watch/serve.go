package watch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

// contentType is that of the text format (Prometheus: "Exposition formats").
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Each user of the machine can send a request. The listener limits each user's connections, so no user can block
// another one.
const (
	// requestTimeout limits the time to read a request. answerTimeout limits the time to write the answer.
	requestTimeout = 200 * time.Millisecond
	answerTimeout  = 5 * time.Second
	maxRequest     = 8 << 10
	// acceptPause is the wait after an error that can pass, such as too many open files.
	acceptPause = 100 * time.Millisecond
)

// Serve answers GET /metrics on a listener until ctx is done, and closes the listener. It answers one request for each
// connection. It reads and writes with net/http, but does not use http.Server: see docs/dependencies.md.
func (m *Metrics) Serve(ctx context.Context, listener net.Listener) error {
	defer listener.Close()
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	for {
		conn, err := listener.Accept()
		errno, isErrno := errors.AsType[syscall.Errno](err)
		switch {
		case err == nil:
			go m.serve(conn)
		case ctx.Err() != nil:
			return nil
		case !isErrno || !errno.Temporary():
			return err
		default:
			poll.Sleep(ctx, acceptPause)
		}
	}
}

// serve answers a connection's request. The client sees each failure itself, as a connection that ends.
func (m *Metrics) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(requestTimeout))
	request, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxRequest)))
	answer := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request, Close: true,
		Header: http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}}
	var text []byte
	switch {
	case err != nil:
		answer.StatusCode = http.StatusBadRequest
	case request.URL.Path != "/metrics":
		answer.StatusCode = http.StatusNotFound
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		answer.StatusCode = http.StatusMethodNotAllowed
		answer.Header.Set("Allow", "GET, HEAD")
	default:
		answer.Header.Set("Content-Type", contentType)
		text = m.Text()
	}
	answer.ContentLength, answer.Body = int64(len(text)), io.NopCloser(bytes.NewReader(text))
	_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	_ = answer.Write(conn)
}
