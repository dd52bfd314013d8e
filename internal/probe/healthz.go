package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// localDelay is the pause before another request to a part of the node. It doubles each time, up to maxLocalDelay.
	localDelay    = 100 * time.Millisecond
	maxLocalDelay = 2 * time.Second
	// localTimeout limits one request to a part of the node.
	localTimeout = 5 * time.Second
	// maxShownAnswer is how many bytes of an answer an error has.
	maxShownAnswer = 512
)

// probeHealthz waits until a health endpoint of this machine reports success.
func probeHealthz(ctx context.Context, healthz *resource.Healthz) error {
	u, err := loopbackURL(healthz.URL)
	if err == nil {
		err = persist(ctx, func(ctx context.Context) error { return askHealthz(ctx, u) })
	}
	if err != nil {
		return &apply.CheckError{Cause: resource.CauseUnhealthy, Endpoint: healthz.URL, Err: err}
	}
	return nil
}

// AskHealthz asks a health endpoint of this machine once, and reports whether it has answered, if not with success. A wait
// is [Wait] with a check.
func AskHealthz(ctx context.Context, endpoint string) (answered bool, err error) {
	u, err := loopbackURL(endpoint)
	if err == nil {
		err = askHealthz(ctx, u)
	}
	if err == nil {
		return true, nil
	}
	_, answered = errors.AsType[unhealthyError](err)
	return answered, fmt.Errorf("%s %w", endpoint, err)
}

// unhealthyError is an answer without success.
type unhealthyError struct {
	code int
	said string
}

func (e unhealthyError) Error() string {
	if e.said != "" {
		return fmt.Sprintf("answers with HTTP status %d: %s", e.code, e.said)
	}
	return fmt.Sprintf("answers with HTTP status %d", e.code)
}

// loopbackURL requires an http URL with a loopback address. It must be an address and not a name, so that no name is
// resolved.
func loopbackURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return nil, errors.New("is not an http URL")
	}
	if address, err := netip.ParseAddr(u.Hostname()); err != nil || !address.IsLoopback() {
		return nil, errors.New("is not the URL of a loopback address, such as 127.0.0.1")
	}
	return u, nil
}

// askHealthz sends one request.
func askHealthz(ctx context.Context, u *url.URL) error {
	// No proxy is configured: a proxy cannot reach this machine's loopback.
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true)
	defer transport.CloseIdleConnections()
	request := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {"slipway-node"}}}).WithContext(ctx)
	// RoundTrip follows no redirect, which could lead to another machine.
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	// The error shows what could be read of the body. A read error does not matter.
	body, _ := io.ReadAll(io.LimitReader(response.Body, 2*maxShownAnswer))
	return unhealthyError{response.StatusCode, redact.Line(string(body), maxShownAnswer)}
}

// persist tries until it succeeds or ctx is done. Then it returns the failure of the last attempt that did not simply
// run out of time.
func persist(ctx context.Context, try func(context.Context) error) error {
	p := &prober{firstDelay: localDelay, maxDelay: maxLocalDelay}
	err := p.repeat(ctx, func(ctx context.Context) *failure {
		ctx, cancel := context.WithTimeout(ctx, localTimeout)
		defer cancel()
		if err := try(ctx); err != nil {
			return &failure{CheckError: apply.CheckError{Err: err}, retry: true}
		}
		return nil
	}, poll.Sleep)
	if check, ok := errors.AsType[*apply.CheckError](err); ok {
		return check.Err
	}
	return err
}
