package probe

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
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
	// proxyVariable is the one for servers that speak TLS.
	proxyVariable = "HTTPS_PROXY"
	// maxEnvironment bounds the file with it, which has a list of hosts, too.
	maxEnvironment = 1 << 20
	// maxProxyAnswer bounds what a proxy says before the server is at its other end.
	maxProxyAnswer = 64 << 10
)

// proxy is an HTTP proxy. Its user and password are in header, and in nothing that is shown.
type proxy struct {
	host, port string
	secure     bool // it speaks TLS itself
	header     http.Header
}

func (x *proxy) String() string {
	scheme := "http"
	if x.secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(x.host, x.port)
}

// readProxy reads the proxy for servers that speak TLS from an environment file.
func readProxy(path string, read func(path string, limit int64) ([]byte, error)) (*proxy, error) {
	content, err := read(path, maxEnvironment)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(environmentValue(string(content), proxyVariable))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%s has no %s that is the URL of an HTTP proxy", path, proxyVariable)
	}
	x := &proxy{host: u.Hostname(), secure: u.Scheme == "https", header: http.Header{"User-Agent": {"slipway-node"}}}
	x.port = cmp.Or(u.Port(), map[bool]string{false: "80", true: "443"}[x.secure])
	if u.User != nil {
		password, _ := u.User.Password()
		with := http.Request{Header: http.Header{}}
		with.SetBasicAuth(u.User.Username(), password)
		x.header["Proxy-Authorization"] = with.Header["Authorization"]
	}
	return x, nil
}

// environmentValue is the value of a variable in an environment file; the last line that sets it counts. Within double quotes a
// backslash takes the meaning of the character after it (systemd.exec(5), EnvironmentFile=).
func environmentValue(content, name string) string {
	value := ""
	for line := range strings.Lines(content) {
		given, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), name+"=")
		if !is {
			continue
		}
		value = given
		if inner, quoted := strings.CutPrefix(given, `"`); quoted {
			value = unquoted(strings.TrimSuffix(inner, `"`))
		}
	}
	return value
}

func unquoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// tunnel has the proxy connect to the server. What fails before the server is at the other end is the proxy's.
func (p *prober) tunnel(ctx context.Context, t *target) (net.Conn, netip.AddrPort, *failure) {
	var address netip.AddrPort
	failed := func(at step, err error) (net.Conn, netip.AddrPort, *failure) {
		f := t.failed(at, resource.CauseProxy, address, fmt.Errorf("through the proxy %s: %w", t.proxy, err))
		f.retry = !errors.Is(err, errRefused)
		return nil, address, f
	}
	addresses, err := p.resolve(ctx, t.proxy.host)
	if err != nil {
		return failed(resolving, err)
	}
	conn, address, err := connect(ctx, addresses, t.proxy.port)
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

// errRefused marks a refusal that is one at each attempt. It has no text of its own.
var errRefused = errors.New("")

// connect asks the proxy for a connection to a server (RFC 9110, 9.3.6).
func (x *proxy) connect(ctx context.Context, conn net.Conn, server string) error {
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: server}, Host: server, Header: x.header}
	if err := request.Write(conn); err != nil {
		return fmt.Errorf("no connection can be asked for: %w", err)
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	response, err := http.ReadResponse(answer, request)
	switch {
	case err != nil:
		return fmt.Errorf("it does not answer as an HTTP proxy does: %w", err)
	case response.StatusCode/100 != 2:
		err := fmt.Errorf("it does not lead to %s (HTTP status %d)", server, response.StatusCode)
		if !mayPass(response.StatusCode) {
			err = fmt.Errorf("%w%w", err, errRefused)
		}
		return err
	case answer.Buffered() > 0:
		return errors.New("it speaks in the place of the server")
	}
	return nil
}
