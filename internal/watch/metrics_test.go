package watch

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/status"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func filled() *Metrics {
	m := NewMetrics()
	m.source("file")
	m.source("azure")
	m.sourceFailed("azure")
	m.generations([]generation.Entry{
		{Number: 3, Outcome: generation.Good}, {Number: 4, Outcome: generation.Good, ConfirmBy: time.Unix(9e9, 0)}, {Number: 5, Outcome: generation.Failed},
	})
	m.drift(2)
	last := &status.Status{
		Outcome: status.OutcomeFailure, FinishedAt: time.UnixMilli(1790000000250),
		Error: &status.Failure{Message: canary},
		Steps: []status.Step{
			{Name: "compare", DurationMs: 12, Detail: canary}, {Name: "Unit:kubelet.service", DurationMs: 1500}, {Name: "compare", DurationMs: 3},
			{Name: "Sysctl:a\\b\"c\nd\xff", DurationMs: 0},
		},
	}
	m.applied(last)
	m.refused()
	m.rejected(map[Rejection]int{Failed: 1})
	m.beforeKubelet(7250 * time.Millisecond)
	return m
}

func TestExposition(t *testing.T) {
	for name, m := range map[string]*Metrics{"full.prom": filled(), "empty.prom": NewMetrics()} {
		got := string(m.Text())
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s", name, got)
		}
		if strings.Contains(got, canary) {
			t.Error("the metrics contain a secret")
		}
	}
}

func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	m := filled()
	go func() { done <- m.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	for _, c := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/metrics", 200}, {"GET", "/metrics?x=1", 200}, {"HEAD", "/metrics", 200}, {"GET", "/", 404}, {"POST", "/metrics", 405},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://node"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.code || c.code == 200 && answer.Header.Get("Content-Type") != contentType {
			t.Errorf("%s %s: %d, %v, %v", c.method, c.path, answer.StatusCode, answer.Header, err)
		}
		if c.code == 200 && c.method == "GET" && string(body) != string(m.Text()) {
			t.Errorf("%s: %s", c.path, body)
		}
	}
	// Nonsense, more than a request may have, half a request, and nothing: the server ends each of them.
	for _, sent := range []string{"nonsense\r\n\r\n", "GET /metrics HTTP/1.1\r\nX: " + strings.Repeat("x", 4*maxRequest) + "\r\n\r\n", "GET /metrics HTTP/1.1\r\n", ""} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, sent) // it may be hung up on before it has sent all
		if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil && !strings.HasPrefix(line, "HTTP/1.1 4") {
			t.Errorf("answers %q", line)
		}
		conn.Close()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// exhausted is a listener whose first call fails as if the process had too many open files, and whose third fails for
// good.
type exhausted struct {
	net.Listener
	calls int
	conn  net.Conn
}

func (l *exhausted) Accept() (net.Conn, error) {
	switch l.calls++; l.calls {
	case 1:
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	case 2:
		return l.conn, nil
	}
	return nil, net.ErrClosed
}

func (l *exhausted) Close() error { return nil }

func TestServeWaitsForFileDescriptors(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	m := filled()
	if err := m.Serve(t.Context(), &exhausted{conn: server}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want the last error", err)
	}
	go func() { _, _ = io.WriteString(client, "GET /metrics HTTP/1.0\r\n\r\n") }()
	answer, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("got %v, %v", answer, err)
	}
}
