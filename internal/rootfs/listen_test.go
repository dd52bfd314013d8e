package rootfs

import (
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestListen(t *testing.T) {
	tree, at := newTree(t)
	listener, err := tree.Listen("/run/slipway/metrics.sock")
	must(t, err)
	info, err := os.Stat(at("run/slipway/metrics.sock"))
	must(t, err)
	if info.Mode().Perm() != 0o666 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if _, err := tree.Listen("/run/slipway/metrics.sock"); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	// A killed process leaves its socket behind.
	listener.(*limitedListener).SetUnlinkOnClose(false)
	must(t, listener.Close())
	again, err := tree.Listen("/run/slipway/metrics.sock")
	must(t, err)
	must(t, again.Close())

	must(t, os.WriteFile(at("file"), []byte("precious"), 0o600))
	_, err = tree.Listen("/file")
	wantError(t, err, "not a socket")
}

// TestListenLimitsEachUser: a user with too many connections gets no more, and others do. A closed connection makes
// space.
func TestListenLimitsEachUser(t *testing.T) {
	tree, at := newTree(t)
	listener, err := tree.Listen("/s")
	must(t, err)
	defer listener.Close()
	limited := listener.(*limitedListener)
	if uid, err := peerOf(t, limited, at("s")); err != nil || uid != uint32(os.Getuid()) {
		t.Fatalf("the user is %d, %v", uid, err)
	}
	next := uint32(1)
	limited.peer = func(*net.UnixConn) (uint32, error) { return next, nil }
	dial := func() net.Conn {
		conn, err := net.Dial("unix", at("s"))
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	var accepted []net.Conn
	for range maxPeerConns {
		dial()
		conn, err := limited.Accept()
		must(t, err)
		accepted = append(accepted, conn)
	}
	refused := dial()
	done := make(chan net.Conn)
	go func() {
		conn, err := limited.Accept()
		if err == nil {
			done <- conn
		}
		close(done)
	}()
	if n, err := refused.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("one too many is not closed: %d, %v", n, err)
	}
	must(t, accepted[0].Close())
	must(t, ignoreClosed(accepted[0].Close())) // counted once
	dial()
	if conn := <-done; conn == nil {
		t.Error("no room after one has ended")
	}
	next = 2
	dial()
	conn, err := limited.Accept()
	must(t, err)
	must(t, conn.Close())
	if limited.conns[1] != maxPeerConns || limited.conns[2] != 0 {
		t.Errorf("counts are %v", limited.conns)
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// peerOf connects to a listener, and returns the user that the listener sees.
func peerOf(t *testing.T, l *limitedListener, path string) (uint32, error) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	must(t, err)
	defer conn.Close()
	accepted, err := l.AcceptUnix()
	must(t, err)
	defer accepted.Close()
	return peerUser(accepted)
}
