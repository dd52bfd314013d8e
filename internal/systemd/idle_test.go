package systemd_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// A connection exists during a request or a job, and is closed when it is unused, because systemd sends all changes to
// every connection.
func TestIdleConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		conn.Set("kubelet.service", "active", "running")
		m := hosttest.Systemd(conn)
		closed := func(want int, when string) {
			t.Helper()
			time.Sleep(2 * systemd.Linger)
			synctest.Wait()
			if got := conn.Closed(); got != want {
				t.Errorf("%s: closed %d times, want %d", when, got, want)
			}
		}
		for range 10 { // one connection for consecutive requests
			_, err := m.UnitState(t.Context(), "kubelet.service")
			must(t, err)
		}
		closed(1, "after questions")

		conn.OnJob = func(string, string) (string, error) { return "", nil }
		done := make(chan error, 1)
		go func() { done <- m.RestartUnit(t.Context(), "kubelet.service") }()
		closed(1, "while a job is at work")
		_, err := m.UnitState(t.Context(), "kubelet.service")
		must(t, err)
		closed(1, "after a question beside the job")
		conn.Finish("done")
		must(t, <-done)
		closed(2, "after the job")

		start, err := m.LastStart(t.Context(), "kubelet.service")
		must(t, err)
		ended := make(chan error, 1)
		go func() { ended <- m.WaitEnd(t.Context(), "kubelet.service", start) }()
		time.Sleep(time.Hour)
		before := conn.Closed()
		time.Sleep(10 * time.Minute)
		// It has no main process whose end the kernel could report.
		if after := conn.Closed(); after-before < 500 || after-before > 700 {
			t.Errorf("closed %d times in ten minutes, want once a second", after-before)
		}
		conn.Set("kubelet.service", "failed", "failed")
		must(t, <-ended)
		m.Close()
	})
}

// The end of a unit is the end of its main process, which the kernel reports. systemd may notice it a moment later.
func TestWaitEnd(t *testing.T) {
	process := exec.Command("sleep", "1000")
	must(t, process.Start())
	defer func() { _ = process.Process.Kill() }()
	conn := hosttest.NewBus()
	runs := map[string]any{"LoadState": "loaded", "ActiveState": "active", "SubState": "running", "InvocationID": []byte{1}, "MainPID": uint32(process.Process.Pid)}
	conn.Put("kubelet.service", runs)
	m := hosttest.Systemd(conn)
	start, err := m.LastStart(t.Context(), "kubelet.service")
	must(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() { given <- m.WaitEnd(ctx, "kubelet.service", start) }()
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}

	processEnded := make(chan error, 1)
	go func() { processEnded <- m.WaitProcess(t.Context(), "kubelet.service") }()
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.WaitProcess(brief, "kubelet.service"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the process ends while it runs: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.WaitEnd(t.Context(), "kubelet.service", start) }()
	must(t, process.Process.Kill())
	if err := process.Wait(); err == nil {
		t.Error("the process has ended well")
	}
	must(t, <-processEnded)
	select {
	case err := <-ended:
		t.Errorf("ended before systemd knows it: %v", err)
	default:
	}
	conn.Set("kubelet.service", "failed", "failed")
	must(t, <-ended)

	// It had ended before the wait, and systemd still names it.
	must(t, m.WaitProcess(t.Context(), "kubelet.service"))
	conn.Put("kubelet.service", runs)
	start.Invocation = "\x01"
	go func() { ended <- m.WaitEnd(t.Context(), "kubelet.service", start) }()
	conn.Set("kubelet.service", "failed", "failed")
	must(t, <-ended)
	m.Close()
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, e := range entries {
			if target, _ := os.Readlink("/proc/self/fd/" + e.Name()); target == "anon_inode:[pidfd]" {
				t.Errorf("a process is still open: %s", e.Name())
			}
		}
	}
}
