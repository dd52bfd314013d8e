package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

const (
	// maxDNSMessage is the largest message by UDP.
	maxDNSMessage = 64 << 10
	// maxFetched limits a page with a one-word status.
	maxFetched = 1 << 10
)

// Exchange sends a DNS message by UDP to the server at HOST:PORT, with a random ID in its first two bytes, and returns
// the server's message with that ID, unless ctx is done before.
func (m *Machine) Exchange(ctx context.Context, server string, message []byte) ([]byte, error) {
	if len(message) < 2 {
		return nil, errors.New("the DNS message has no ID")
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	message = bytes.Clone(message)
	_, _ = rand.Read(message[:2]) // rand.Read never fails
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	answer := make([]byte, maxDNSMessage)
	for {
		n, err := conn.Read(answer)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s does not answer: %w", server, ctx.Err())
		}
		if err != nil {
			return nil, err
		}
		if n >= 2 && bytes.Equal(answer[:2], message[:2]) {
			return answer[:n], nil
		}
	}
}

// Fetch returns the body of a URL, if the status is 200. It uses no proxy and follows no redirect.
func (m *Machine) Fetch(ctx context.Context, url string) (string, error) {
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("get %s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("get %s: status %d", url, response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxFetched))
	if err != nil {
		return "", fmt.Errorf("get %s: %w", url, err)
	}
	return string(text), nil
}
