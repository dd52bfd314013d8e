package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// proxyVariable is the variable for servers that use TLS.
	proxyVariable = "HTTPS_PROXY"
	// maxEnvironment limits the file with it, which also has a list of hosts.
	maxEnvironment = 1 << 20
	// maxProxyAnswer limits a proxy's answer to CONNECT.
	maxProxyAnswer = 64 << 10
)

// proxy is an HTTP proxy. Its user and password are only in header, which is never shown.
type proxy struct {
	name       string // for people
	host, port string
	secure     bool // the proxy itself uses TLS
	header     http.Header
}

// readProxy reads the proxy for servers that use TLS from an environment file.
func readProxy(path string, read func(path string, limit int64) ([]byte, error)) (*proxy, error) {
	content, err := read(path, maxEnvironment)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(environmentValue(string(content), proxyVariable))
	if err != nil || !isProxy(u) {
		return nil, fmt.Errorf("%s has no %s that is the URL of an HTTP proxy", path, proxyVariable)
	}
	return newProxy(u), nil
}

// isProxy reports whether a URL is that of an HTTP proxy.
func isProxy(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// newProxy is the HTTP proxy at a URL.
func newProxy(u *url.URL) *proxy {
	x := &proxy{host: u.Hostname(), port: u.Port(), secure: u.Scheme == "https", header: http.Header{"User-Agent": {"slipway-node"}}}
	switch {
	case x.port != "":
	case x.secure:
		x.port = "443"
	default:
		x.port = "80"
	}
	x.name = u.Scheme + "://" + net.JoinHostPort(x.host, x.port)
	if u.User != nil {
		password, _ := u.User.Password()
		x.header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	return x
}

// environmentValue is the value of a variable in an environment file; the last line that sets it counts. Within double
// quotes a backslash escapes the next character (systemd.exec(5), EnvironmentFile=).
func environmentValue(content, name string) string {
	name = "\n" + name + "="
	content = "\n" + content
	at := strings.LastIndex(content, name)
	if at < 0 {
		return ""
	}
	value, _, _ := strings.Cut(content[at+len(name):], "\n")
	if !strings.HasPrefix(value, `"`) {
		return value
	}
	var b []byte
	for i := 1; i < len(value) && value[i] != '"'; i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		b = append(b, value[i])
	}
	return string(b)
}

// tunnel makes the proxy connect to the server. A failure before the connection is complete is the proxy's.
func (p *prober) tunnel(ctx context.Context, t *target) (net.Conn, netip.AddrPort, *failure) {
	var address netip.AddrPort
	failed := func(at step, err error) (net.Conn, netip.AddrPort, *failure) {
		f := t.failed(at, resource.CauseProxy, address, fmt.Errorf("through the proxy %s: %w", t.proxy.name, err))
		var answer *notLed
		return nil, address, f.retryIf(!errors.As(err, &answer) || mayPass(answer.status))
	}
	addresses, err := p.resolve(ctx, t.proxy.host)
	if err != nil {
		return failed(resolving, err)
	}
	conn, address, err := p.connect(ctx, addresses, t.proxy.port)
	if err != nil {
		return failed(connecting, err)
	}
	if t.proxy.secure {
		secure := tls.Client(conn, &tls.Config{RootCAs: t.roots, ServerName: t.proxy.host, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return failed(connecting, fmt.Errorf("tls handshake: %w", err))
		}
		conn = secure
	}
	if err := t.proxy.connect(ctx, conn, net.JoinHostPort(t.host, t.port)); err != nil {
		conn.Close()
		return failed(connecting, err)
	}
	return conn, address, nil
}

// errNoTunnel marks the failure of a proxy that was reached. It has no text.
var errNoTunnel = errors.New("")

// notLed is a proxy's answer that it does not connect to a server.
type notLed struct {
	server string
	status int
}

func (e *notLed) Error() string {
	return fmt.Sprintf("it does not lead to %s (HTTP status %d)", e.server, e.status)
}

// connect requests a connection to a server from the proxy (RFC 9110, 9.3.6).
func (x *proxy) connect(ctx context.Context, conn net.Conn, server string) error {
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: server}, Host: server, Header: x.header}
	if err := request.Write(conn); err != nil {
		return fmt.Errorf("no connection can be asked for: %w%w", err, errNoTunnel)
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	response, err := http.ReadResponse(answer, request)
	switch {
	case err != nil:
		return fmt.Errorf("it does not answer as an HTTP proxy does: %w%w", err, errNoTunnel)
	case response.StatusCode/100 != 2:
		return &notLed{server, response.StatusCode}
	case answer.Buffered() > 0:
		return fmt.Errorf("it speaks in the place of the server%w", errNoTunnel)
	}
	return nil
}
