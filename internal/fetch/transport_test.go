package fetch_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"testing"
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
