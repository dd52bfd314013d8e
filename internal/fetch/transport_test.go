package fetch_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// The default transport works as on a node: over TCP, with the given roots.
func TestDefaultTransport(t *testing.T) {
	server := httptest.NewUnstartedServer(whole(archive))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	r := fetch.Request{From: []string{server.URL + "/a"}, SHA256: sum(archive), MaxBytes: 1 << 20}
	into := newFile(t, nil)
	if got, err := (&fetch.Client{Roots: roots}).Get(t.Context(), r, into); err != nil || content(t, into) != string(archive) || got.From != r.From[0] {
		t.Errorf("%+v, %v", got, err)
	}
	tired := errors.New("not again")
	client := &fetch.Client{Roots: x509.NewCertPool(), Wait: func(context.Context, time.Duration) error { return tired }}
	var failed *fetch.Error
	var unknown x509.UnknownAuthorityError
	_, err := client.Get(t.Context(), r, newFile(t, nil))
	if !errors.As(err, &failed) || failed.Cause != fetch.Unreachable || !errors.As(err, &unknown) || !errors.Is(err, tired) {
		t.Error(err)
	}
}

// tooLate answers each request with an empty file, just after the client has ended the request.
type tooLate struct{}

func (tooLate) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// An answer to a request that the client has ended is no answer: it would be an empty file, which the client does not
// try again.
func TestAnswerTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &fetch.Client{Transport: tooLate{}}
		_, err := client.Get(t.Context(), fetch.Request{From: []string{fileURL}, MaxBytes: 1 << 20}, newFile(t, nil))
		var failed *fetch.Error
		if !errors.As(err, &failed) || failed.Cause != fetch.Unreachable || !strings.Contains(err.Error(), "sends nothing any more; given up after") {
			t.Error(err)
		}
	})
}
