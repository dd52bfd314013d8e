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
	// maxDNSMessage is how long a message by UDP may be.
	maxDNSMessage = 64 << 10
	// maxFetched bounds what is read of a page that says in a word how something is.
	maxFetched = 1 << 10
)

// Exchange sends a DNS message to the server at HOST:PORT by UDP, with an ID in its first two bytes that nobody else can know, and returns
// the message with that ID that comes back from there, before ctx is done.
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
	_, _ = rand.Read(message[:2]) // it never fails
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

// Fetch returns what is at a URL, where the status is 200. It uses no proxy, and follows no redirect.
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
