package watch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// contentType is that of the text format (Prometheus: "Exposition formats").
const contentType = "text/plain; version=0.0.4; charset=utf-8"

const (
	// answerTimeout bounds a request with its answer, askers how many are answered at once, and
	// maxRequest the size of a request: everybody on the machine may ask, and nobody is to hold others up.
	answerTimeout = 5 * time.Second
	askers        = 16
	maxRequest    = 8 << 10
	// acceptPause is slept where no connection can be accepted, as where there are no descriptors left.
	acceptPause = time.Second
)

// Serve answers GET /metrics on a listener, until ctx is done. One request is answered for each connection.
// It is not net/http's server, which would add 0.4 MB to a program that is to stay small.
func (m *Metrics) Serve(ctx context.Context, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	turns := make(chan struct{}, askers)
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
			continue
		}
		turns <- struct{}{}
		go func() {
			defer func() { <-turns }()
			m.answer(conn)
		}()
	}
}

// answer answers one request. What goes wrong is the asker's.
func (m *Metrics) answer(conn net.Conn) {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return
	}
	code, body := http.StatusOK, []byte(nil)
	request, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxRequest)))
	switch {
	case err != nil:
		code = http.StatusBadRequest
	case request.URL.Path != "/metrics":
		code = http.StatusNotFound
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		code = http.StatusMethodNotAllowed
	default:
		body = m.Text()
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		code, http.StatusText(code), contentType, len(body))
	if request != nil && request.Method == http.MethodHead {
		body = nil
	}
	_, _ = conn.Write(append([]byte(head), body...))
}
