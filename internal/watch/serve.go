package watch

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// contentType is that of the text format (Prometheus: "Exposition formats").
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Every user of the machine may ask, and none may keep others from it. The listener bounds each user's connections.
const (
	// headerTimeout is how long a request may take to come, answerTimeout bounds it with its answer.
	headerTimeout = 200 * time.Millisecond
	answerTimeout = 5 * time.Second
	maxRequest    = 8 << 10
)

// Serve answers GET /metrics on a listener, until ctx is done. One request is answered for each connection.
func (m *Metrics) Serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(m.Text())
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: answerTimeout, WriteTimeout: answerTimeout, MaxHeaderBytes: maxRequest,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // the errors are the clients'
	}
	server.SetKeepAlivesEnabled(false)
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
