package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// proxyFile is the path of the proxy's variables.
const proxyFile = "/etc/slipway/proxy.env"

// readLimited reads files as a check does.
func (f files) readLimited(path string, limit int64) ([]byte, error) {
	content, there := f[path]
	switch {
	case !there:
		return nil, fs.ErrNotExist
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return []byte(content), nil
}

// proxyServer is an HTTP proxy: it gives this answer, or, if that is empty, connects to the server. It records the
// clients' credential.
func proxyServer(t *testing.T, answer string, credentials *atomic.Value) string {
	t.Helper()
	return accepting(t, func(conn net.Conn) { lead(conn, answer, credentials) })
}

func lead(conn net.Conn, answer string, credentials *atomic.Value) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	credentials.Store(request.Method + " " + request.Host + " " + request.Header.Get("Proxy-Authorization"))
	if answer != "" {
		_, _ = io.WriteString(conn, answer)
		return
	}
	server, err := net.Dial("tcp", request.Host)
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(server, conn); server.Close() }()
	_, _ = io.Copy(conn, server)
}

// A server is reached directly or through a proxy. A failure names the step.
func TestReachable(t *testing.T) {
	server, api := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("the server is asked for something") })
	address := strings.TrimPrefix(server.URL, "https://")
	_, other := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	var seen atomic.Value
	const credential = "user:p%40ss"
	for name, c := range map[string]struct {
		server string
		trust  string
		// proxy is its URL without the scheme; answer is its answer.
		proxy, answer string
		file          string // replaces the file with the proxy
		cause         resource.Cause
		want          []string
		again         bool // another attempt follows
	}{
		"directly":                   {server: address, trust: api.CertificateAuthority},
		"with another's certificate": {server: address, trust: other, cause: resource.CauseTLS, want: []string{"unknown authority"}},
		"no listener":                {server: closed.Addr().String(), cause: resource.CauseConnection, want: []string{"connection refused"}, again: true},
		"through a proxy":            {server: address, trust: api.CertificateAuthority, proxy: credential + "@PROXY"},
		"by another's, in a proxy":   {server: address, trust: other, proxy: "PROXY", cause: resource.CauseTLS, want: []string{"unknown authority"}},
		"a proxy that is not there":  {server: address, proxy: closed.Addr().String(), cause: resource.CauseProxy, want: []string{"through the proxy http://" + closed.Addr().String(), "connection refused"}, again: true},
		"a proxy that refuses":       {server: address, proxy: credential + "@PROXY", answer: "HTTP/1.1 407 Who?\r\n\r\n", cause: resource.CauseProxy, want: []string{"it does not lead to " + address + " (HTTP status 407)"}},
		"a proxy that has trouble":   {server: address, proxy: "PROXY", answer: "HTTP/1.1 502 Bad\r\n\r\n", cause: resource.CauseProxy, want: []string{"HTTP status 502"}, again: true},
		"a proxy that redirects":     {server: address, proxy: "PROXY", answer: "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.invalid\r\n\r\n", cause: resource.CauseProxy, want: []string{"HTTP status 302"}},
		"not a proxy":                {server: address, proxy: "PROXY", answer: "SSH-2.0-x\r\n", cause: resource.CauseProxy, want: []string{"does not answer as an HTTP proxy does"}, again: true},
		"a proxy that talks on":      {server: address, proxy: "PROXY", answer: "HTTP/1.1 200 OK\r\n\r\n\x16\x03", cause: resource.CauseProxy, want: []string{"in the place of the server"}, again: true},
		"a proxy without an end":     {server: address, proxy: "PROXY", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxProxyAnswer), cause: resource.CauseProxy, want: []string{"does not answer as an HTTP proxy does"}, again: true},
		"a proxy that speaks no TLS": {server: address, proxy: "https://PROXY", answer: "HTTP/1.1 400 Bad\r\n\r\n", cause: resource.CauseProxy, want: []string{"tls handshake"}, again: true},
		"no proxy in its file":       {server: address, file: "HTTP_PROXY=http://127.0.0.1:1\n", cause: resource.CauseProxy, want: []string{proxyFile + " has no HTTPS_PROXY"}, again: true},
		"a proxy of another kind":    {server: address, file: "HTTPS_PROXY=socks5://127.0.0.1:1\n", cause: resource.CauseProxy, want: []string{"URL of an HTTP proxy"}, again: true},
		"no file":                    {server: address, file: "-", cause: resource.CauseProxy, want: []string{"not exist"}, again: true},
		"no server":                  {server: "mcr.example", cause: resource.CauseConnection, want: []string{"is not HOST:PORT"}},
	} {
		t.Run(name, func(t *testing.T) {
			seen.Store("")
			machine := files{trustBundles[1]: c.trust}
			to := &resource.Reachable{Server: c.server}
			if c.proxy != "" {
				proxy := strings.Replace(c.proxy, "PROXY", proxyServer(t, c.answer, &seen), 1)
				if !strings.Contains(proxy, "://") {
					proxy = "http://" + proxy
				}
				to.Proxy, machine[proxyFile] = proxyFile, "HTTPS_PROXY=http://127.0.0.1:1\nNO_PROXY=x\nHTTPS_PROXY=\""+proxy+"\"\n"
			}
			if c.file != "" {
				to.Proxy, machine[proxyFile] = proxyFile, c.file
			}
			if c.file == "-" {
				delete(machine, proxyFile)
			}
			var err error
			var took time.Duration
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err = defaultProber.probeReachable(ctx, to, machine.readLimited)
				took = time.Since(hosttest.Began)
			})
			if c.cause == "" {
				must(t, err)
			} else {
				wantCheckError(t, err, c.cause, append(c.want, c.server)...)
			}
			if took > time.Minute || (took > 0) != c.again {
				t.Errorf("took %s", took)
			}
			if err != nil && strings.Contains(err.Error(), "p@ss") || err != nil && strings.Contains(err.Error(), "p%40ss") {
				t.Errorf("%v has the proxy's password", err)
			}
			if strings.HasPrefix(c.proxy, credential) && seen.Load() != "CONNECT "+address+" Basic dXNlcjpwQHNz" {
				t.Errorf("the proxy sees %q", seen.Load())
			}
		})
	}
}

// A name that does not resolve has the cause DNS; a proxy's name has the cause proxy.
func TestReachableName(t *testing.T) {
	for proxy, cause := range map[string]resource.Cause{"": resource.CauseDNS, "HTTPS_PROXY=http://proxy.example:3128\n": resource.CauseProxy} {
		ctx := hosttest.NewTimed(t)
		to := &resource.Reachable{Server: "mcr.example:443"}
		if proxy != "" {
			to.Proxy = proxyFile
		}
		err := nameless(ctx).probeReachable(ctx, to, files{proxyFile: proxy}.readLimited)
		wantCheckError(t, err, cause, "mcr.example:443", "lookup ")
	}
}

// A silent server or proxy that accepts connections costs no more than the available time.
func TestReachableInTime(t *testing.T) {
	for _, through := range []bool{false, true} {
		ctx := hosttest.NewTimed(t)
		address := accepting(t, func(conn net.Conn) {
			t.Cleanup(func() { conn.Close() })
			ctx.Over()
		})
		to, cause := &resource.Reachable{Server: address}, resource.CauseConnection
		if through {
			to, cause = &resource.Reachable{Server: "mcr.example:443", Proxy: proxyFile}, resource.CauseProxy
		}
		wantCheckError(t, defaultProber.probeReachable(ctx, to, files{proxyFile: "HTTPS_PROXY=http://" + address}.readLimited), cause)
	}
}

// FuzzProxy: whatever the file holds, the result is an HTTP proxy or an error, and its password is not shown.
func FuzzProxy(f *testing.F) {
	f.Add("HTTPS_PROXY=http://user:secret@proxy.example:3128\n")
	f.Add("HTTPS_PROXY=\"https://a:b\\\"c@[::1]\"\nHTTPS_PROXY=\\")
	f.Fuzz(func(t *testing.T, content string) {
		x, err := readProxy(proxyFile, files{proxyFile: content}.readLimited)
		if err != nil {
			if x != nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, %v", x, err)
			}
			return
		}
		if x.host == "" || x.port == "" || strings.Contains(x.name, "@") && !strings.Contains(x.host, "@") {
			t.Errorf("the proxy is %s", x.name)
		}
	})
}
