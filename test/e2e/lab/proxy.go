package lab

import (
	"io"
	"net"
	"net/http"
)

// forwardProxy is an HTTP proxy that makes tunnels (RFC 9110, 9.3.6). It maps the names and ports of the servers that it knows to
// their addresses, and refuses all other servers.
type forwardProxy map[string]string

// ServeHTTP implements http.Handler.
func (p forwardProxy) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	address, known := p[q.Host]
	if q.Method != http.MethodConnect || !known {
		http.Error(w, "this proxy does not lead there", http.StatusForbidden)
		return
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		defer server.Close()
		_, _ = io.Copy(server, ahead) // the side that ends first closes its connection, and the other side notices
	}()
	_, _ = io.Copy(client, server)
}
