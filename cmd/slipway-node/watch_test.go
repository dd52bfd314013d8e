package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/cli"
)

// service is a watcher as systemd would start it, on a directory.
type service struct {
	*testing.T
	root   string
	client *http.Client
	told   chan string
}

// startService provisions a directory, and watches it.
func startService(t *testing.T, ctx context.Context) (*service, <-chan int) {
	t.Helper()
	s := &service{T: t, root: t.TempDir(), told: make(chan string, 1000)}
	contract, err := os.ReadFile("../../examples/native/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.deliver(contract)
	var errors bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errors}
	if code := run(ctx, program, []string{"provision", "--root", s.root, "--facts", "../../examples/facts/ubuntu.json"}, streams); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errors)
	}
	notify := filepath.Join(s.root, "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			s.told <- string(buf[:n])
		}
	}()
	t.Setenv("NOTIFY_SOCKET", notify)
	t.Setenv("WATCHDOG_USEC", "400000")
	s.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.root, "m"))
	}}}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, program, []string{"watch", "--root", s.root, "--metrics-socket", "/m"}, streams)
	}()
	return s, ended
}

// deliver replaces the contract atomically, as a correct program does.
func (s *service) deliver(contract []byte) {
	s.Helper()
	dir := filepath.Join(s.root, "etc/slipway")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), contract, 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "config.yaml")); err != nil {
		s.Fatal(err)
	}
}

// await waits until systemd gets a state.
func (s *service) await(state string) {
	s.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case told := <-s.told:
			if strings.Contains(told, state) {
				return
			}
		case <-timeout:
			s.Fatalf("systemd is never told %q", state)
		}
	}
}

func (s *service) metrics() string {
	s.Helper()
	answer, err := s.client.Get("http://node/metrics")
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(body)
}

// The complete service: it applies a contract that a rename replaces, reports metrics and to systemd, and ends on
// request.
func TestWatchAsAService(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, ended := startService(t, ctx)
	s.await("READY=1")
	s.await("STATUS=generation 1 is good")
	s.await("WATCHDOG=1")
	contract, err := os.ReadFile(filepath.Join(s.root, "etc/slipway/config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.deliver(bytes.ReplaceAll(contract, []byte("maxPods: 200"), []byte("maxPods: 110")))
	s.await("STATUS=applying the config of file")
	s.await("STATUS=generation 2 is good")
	if text := s.metrics(); !strings.Contains(text, "\nslipway_generation 2\n") || strings.Contains(text, "abcdef") {
		t.Error(text)
	}
	// A second watcher reports that there already is one.
	var errors bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errors}
	if code := run(ctx, program, []string{"watch", "--root", s.root, "--metrics-socket", "/m"}, streams); code != 1 || !strings.Contains(errors.String(), "another process listens") {
		t.Errorf("exit code %d: %s", code, &errors)
	}
	cancel()
	s.await("STOPPING=1")
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
