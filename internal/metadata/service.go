package metadata

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
)

const ifNoneMatch = "If-None-Match"

// Service is a cloud's metadata service. Its methods may be called concurrently; tries are made one after another.
type Service struct {
	cloud
	client *http.Client

	mu sync.Mutex
	// at is the index of the address that is tried first.
	at int
	// last is the last fetched user data, and etag the service's name for it, if any.
	last []byte
	etag string
	// secret is the token, valid until the time.
	secret string
	until  time.Time
}

// New returns the metadata service of a cloud, one of Clouds. dial is for tests, and otherwise nil.
func New(name string, dial Dial) (*Service, error) {
	c, known := clouds[name]
	if !known {
		return nil, fmt.Errorf("unknown metadata service %q, want one of %s", name, strings.Join(Clouds(), ", "))
	}
	connect := connectTimeout
	if len(c.addresses) == 1 {
		connect = 0
	}
	return &Service{cloud: c, client: newClient(c.reach, dial, connect)}, nil
}

// URL is the URL of user data.
func (s *Service) URL() string { return s.addresses[0] + s.userData.path }

// Fetch returns the machine's user data, unchanged, of at most MaxUserData bytes; it is secret. It sends one request,
// for at most 10 seconds. If the service supports conditional requests, unchanged data is not fetched again, and the
// caller must not change the result. The error is an *Error, and ErrNotFound if the machine has none.
func (s *Service) Fetch(ctx context.Context) ([]byte, error) { return once(ctx, s.fetch) }

// UserData is Fetch with retries: until there is a final answer, or ctx ends.
func (s *Service) UserData(ctx context.Context) ([]byte, error) { return retry(ctx, s.fetch) }

// Instance returns the cloud's description of the machine. It retries. Invalid values are empty. With an error, an
// *Error, it returns what is known so far.
func (s *Service) Instance(ctx context.Context) (facts.Instance, error) {
	instance, err := retry(ctx, func(ctx context.Context) (facts.Instance, *failure) {
		return described(ctx, s, s.instance, s.describe, "the answer is not an instance document")
	})
	for _, more := range []struct {
		document
		into *string
	}{{s.hostname, &instance.Hostname}, {s.lifecycle, &instance.Lifecycle}} { // a lifecycle has the same characters as a name
		if err != nil || more.path == "" {
			break
		}
		*more.into, err = retry(ctx, func(ctx context.Context) (string, *failure) {
			return described(ctx, s, more.document, func(data []byte) (string, bool) { return facts.CleanHostname(firstWord(data)), true }, "")
		})
		if errors.Is(err, ErrNotFound) {
			err = nil // the document is optional
		}
	}
	return instance, err
}

// Tags returns the requests of the machine's tags. It sends one request, for at most 10 seconds. The error is an
// *Error, and ErrNotFound for a cloud without known tags.
func (s *Service) Tags(ctx context.Context) (facts.Tags, error) {
	return once(ctx, func(ctx context.Context) (facts.Tags, *failure) {
		if s.tags.path == "" {
			return facts.Tags{}, failed(s.addresses[0], NotFound, "has no tags that are known")
		}
		return described(ctx, s, s.tags, s.describeTags, "the answer is not a list of tags")
	})
}

// described returns a document's description. wrong is the failure if describe rejects the document.
func described[T any](ctx context.Context, s *Service, d document, describe func(data []byte) (T, bool), wrong string) (said T, f *failure) {
	got, f := s.read(ctx, d, "")
	if f != nil {
		return said, f
	}
	said, ok := describe(got.body)
	if !ok {
		return said, failed(got.url, WrongType, wrong)
	}
	return said, nil
}

// fetch requests the user data once.
func (s *Service) fetch(ctx context.Context) ([]byte, *failure) {
	s.mu.Lock()
	etag, last := s.etag, s.last
	s.mu.Unlock()
	got, f := s.read(ctx, s.userData, etag)
	if f != nil {
		return nil, f
	}
	if got.status == http.StatusNotModified {
		return last, nil
	}
	data := got.body
	if s.encoded {
		var err error
		if data, err = base64.StdEncoding.AppendDecode(nil, []byte(strings.TrimSpace(string(data)))); err != nil {
			return nil, failed(got.url, WrongType, "is not base64") // the error itself shows a byte of it
		}
	}
	if len(data) == 0 {
		return nil, failed(got.url, NotFound, "is empty")
	}
	if len(data) > MaxUserData {
		return nil, tooLarge(got.url, MaxUserData)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.etag = data, ""
	if etag := got.header.Get("ETag"); printable(etag, maxETag) {
		s.etag = etag
	}
	return data, nil
}

// maxETag limits the service's name for its user data, which is sent back to it.
const maxETag = 256

// located is an answer, and its URL.
type located struct {
	answer
	url string
}

// read makes one try to read a document, at one address after another until there is a connection. An address that
// connects and does not answer is tried last the next time.
func (s *Service) read(ctx context.Context, d document, etag string) (located, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *failure
	for i := range s.addresses {
		at := (s.at + i) % len(s.addresses)
		got, f := s.readAt(ctx, s.addresses[at], d, etag)
		switch {
		case f == nil:
			s.at = at
			return got, nil
		case !f.unconnected:
			if f.kind == Timeout {
				at = (at + 1) % len(s.addresses)
			}
			s.at = at
			return located{}, f
		case first == nil:
			first = f
		default:
			first.last += "; " + f.url + ": " + f.last
		}
		if ctx.Err() != nil {
			break
		}
	}
	return located{}, first
}

// readAt reads a document at one address, with a new token if the service rejects the present one.
func (s *Service) readAt(ctx context.Context, address string, d document, etag string) (located, *failure) {
	got, f := s.ask(ctx, address, d, etag)
	if f != nil && f.unauthorized && s.secret != "" {
		s.secret = "" // the service has lost it, for example by a restart
		got, f = s.ask(ctx, address, d, etag)
	}
	return located{got, address + d.path}, f
}

func (s *Service) ask(ctx context.Context, address string, d document, etag string) (answer, *failure) {
	header := make(map[string]string)
	maps.Copy(header, s.header)
	if s.token != "" {
		if f := s.renew(ctx, address); f != nil {
			return answer{}, f
		}
		header[s.token] = s.secret
	}
	if etag != "" {
		header[ifNoneMatch] = etag
	}
	return exchange(ctx, s.client, question{
		method: http.MethodGet, url: address + d.path, header: header,
		limit: d.limit, refused: d.refused, policy: s.policy,
	})
}
