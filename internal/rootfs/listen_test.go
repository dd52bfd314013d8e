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
	// One that was killed leaves its socket behind.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, listener.Close())
	again, err := tree.Listen("/run/slipway/metrics.sock")
	must(t, err)
	must(t, again.Close())

	must(t, os.WriteFile(at("file"), []byte("precious"), 0o600))
	_, err = tree.Listen("/file")
	wantError(t, err, "not a socket")
}
