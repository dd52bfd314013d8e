package rootfs

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// maxPeerConns is how many connections one user may have to a socket at a time, so that one user cannot block the
// others.
const maxPeerConns = 4

// limitedListener closes each connection of a user who already has the maximum.
type limitedListener struct {
	*net.UnixListener
	// peer returns the user at the other end of a connection.
	peer func(*net.UnixConn) (uid uint32, err error)

	mu    sync.Mutex
	conns map[uint32]int
}

// Accept returns the next connection of a user who has fewer than the maximum.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := l.peer(conn)
		if err != nil || !l.take(uid) {
			conn.Close()
			continue
		}
		return &limitedConn{UnixConn: conn, release: sync.OnceFunc(func() { l.release(uid) })}, nil
	}
}

// take counts a user's connection, unless the user has the maximum.
func (l *limitedListener) take(uid uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns[uid] >= maxPeerConns {
		return false
	}
	l.conns[uid]++
	return true
}

func (l *limitedListener) release(uid uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns[uid]--; l.conns[uid] == 0 {
		delete(l.conns, uid)
	}
}

// limitedConn is one of a user's connections.
type limitedConn struct {
	*net.UnixConn
	release func()
}

// Close ends the connection, and no longer counts it.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.UnixConn.Close()
}

// peerUser returns the user of a connection's other end (unix(7), SO_PEERCRED).
func peerUser(conn *net.UnixConn) (uid uint32, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var user *unix.Ucred
	control := raw.Control(func(fd uintptr) { user, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if control != nil {
		return 0, control
	}
	if err != nil {
		return 0, err
	}
	return user.Uid, nil
}
