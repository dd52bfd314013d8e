package lab

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const jsonType = "application/json"

// API is a client of the API server that sends and receives JSON.
type API struct {
	server string
	client *http.Client
}

func newAPI(pki *PKI, server string) (*API, error) {
	certificate, err := tls.LoadX509KeyPair(pki.Path("admin.crt"), pki.Path("admin.key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(pki.ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: roots}}
	return &API{server: server, client: &http.Client{Transport: transport}}, nil
}

// call makes a request and decodes the answer.
func (a *API) call(ctx context.Context, method, path, contentType string, in, out any) error {
	body, err := a.open(ctx, method, path, contentType, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, body)
		return err
	}
	return json.NewDecoder(body).Decode(out)
}

// open makes a request and returns the answer's body.
func (a *API) open(ctx context.Context, method, path, contentType string, in any) (io.ReadCloser, error) {
	var body io.Reader
	if in != nil {
		document, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(document)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.server+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))
		return nil, &StatusError{Code: answer.StatusCode, words: fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, strings.TrimSpace(string(text)))}
	}
	return answer.Body, nil
}

// StatusError is an answer with which the API server refuses a request.
type StatusError struct {
	// Code is its status.
	Code  int
	words string
}

// Error returns the request and the API server's message.
func (e *StatusError) Error() string { return e.words }

// Get reads an object or a list.
func (a *API) Get(ctx context.Context, path string, out any) error {
	return a.call(ctx, http.MethodGet, path, "", nil, out)
}

// Create creates an object.
func (a *API) Create(ctx context.Context, path string, in any) error {
	return a.call(ctx, http.MethodPost, path, jsonType, in, nil)
}

// Merge merges a change over an object (RFC 7396).
func (a *API) Merge(ctx context.Context, path string, change any) error {
	return a.call(ctx, http.MethodPatch, path, "application/merge-patch+json", change, nil)
}

// Delete deletes an object, or all of a collection.
func (a *API) Delete(ctx context.Context, path string) error {
	return a.call(ctx, http.MethodDelete, path, "", nil, nil)
}

// Watch calls see with every state of every object in a collection, until see returns true or ctx
// is done.
func Watch[T any](ctx context.Context, a *API, path string, see func(object T) (enough bool)) error {
	body, err := a.open(ctx, http.MethodGet, path+"?watch=1", "", nil)
	if err != nil {
		return err
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var event struct {
			Type   string `json:"type"`
			Object T      `json:"object"`
		}
		if err := events.Decode(&event); err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
		if event.Type != "ADDED" && event.Type != "MODIFIED" {
			continue
		}
		if see(event.Object) {
			return nil
		}
	}
}
