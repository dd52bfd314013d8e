package rootfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Listen listens on a socket at path. Each user of the machine can connect, with at most maxPeerConns connections at a
// time. A socket without a listener is replaced; a missing directory is created.
func (t *Tree) Listen(path string) (net.Listener, error) {
	listener, err := t.listen(path)
	if err != nil {
		return nil, Failed("listen on", path, err)
	}
	return listener, nil
}

func (t *Tree) listen(path string) (net.Listener, error) {
	p, err := t.prepare(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	name := filepath.Join(t.name, path)
	stat, err := p.stat()
	switch {
	case errors.Is(err, unix.ENOENT):
	case err != nil:
		return nil, err
	case stat.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return nil, errors.New("the path exists and is not a socket: remove it, or choose another path")
	default:
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if conn, err := new(net.Dialer).DialContext(ctx, "unix", name); err == nil {
			conn.Close()
			return nil, fmt.Errorf("another process listens there: %w", unix.EADDRINUSE)
		}
		if err := p.unlink(p.base); err != nil {
			return nil, err
		}
	}
	var listener net.Listener
	err = mutate(failpoint.Change{Kind: failpoint.Create, File: p.dir, Name: p.base}, func() (err error) {
		listener, err = net.Listen("unix", name)
		return err
	})
	if err != nil {
		var call *net.OpError
		if errors.As(err, &call) {
			err = bare(call.Err)
		}
		return nil, err
	}
	open := failpoint.Change{Kind: failpoint.Mode, Root: t.name, Name: path, Mode: 0o666}
	if err := mutate(open, func() error { return os.Chmod(name, 0o666) }); err != nil {
		listener.Close()
		return nil, bare(err)
	}
	return &limitedListener{UnixListener: listener.(*net.UnixListener), peer: peerUser, conns: make(map[uint32]int)}, nil
}
