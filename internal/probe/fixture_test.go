package probe

import (
	"net"
	"testing"

	"github.com/slipway-dev/slipway/test/hosttest"
)

var (
	must      = hosttest.Must
	wantError = hosttest.WantError
)

// accepting does something with each connection to a server of the test's, until the test ends, and returns its address.
func accepting(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go do(conn)
		}
	}()
	return listener.Addr().String()
}
