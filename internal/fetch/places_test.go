package fetch_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// shared is a file that two sources may have.
type shared struct {
	name          string
	first, second http.HandlerFunc // nil for a host without a name
	digest        bool
	from          string // where it came from, or ""
	cause         fetch.Cause
	at            string // the source of the cause
	took          time.Duration
	asked         int
	problems      []string // parts of the error
}

// several are the cases with two sources: when each is tried, which has the file, and the joined error.
func several() []shared {
	return []shared{
		{name: "the first has it", first: whole(archive), second: whole(flipped), from: files, asked: 1},
		{name: "only the second has it", first: status(404), second: whole(archive), from: others, asked: 2},
		{name: "the first has no name", second: whole(archive), from: others, asked: 1},
		{name: "the first is busy", first: status(429, "Retry-After", "60"), second: whole(archive), from: others, asked: 2},
		{name: "the first has another file", first: whole(flipped), second: whole(archive), digest: true, from: others, asked: 2},
		{name: "the first has a third of it, each time", first: cut(100<<10, whole(archive)), second: whole(archive), digest: true, from: files, took: 200 * time.Millisecond, asked: 3},
		{name: "the first has the beginning of it, always", first: cut(10<<10, simple(archive)), second: whole(archive), digest: true, from: others, asked: 2},
		{name: "the first has half of another one, always", first: cut(10<<10, simple(flipped[100<<10:])), second: whole(archive), digest: true, from: others, took: 100 * time.Millisecond, asked: 3},
		{name: "the first has half of another file, without a digest", first: cut(10<<10, simple(flipped)), second: whole(archive), from: others, asked: 2},
		{name: "the second is better the second time", first: status(404), second: first(1, status(500), whole(archive)), from: others, took: 500 * time.Millisecond, asked: 3},
		{name: "neither has it", first: status(404), second: status(410), cause: fetch.NotFound, at: files, asked: 2, problems: []string{"404", "410"}},
		{name: "a wrong one says most", first: status(403), second: whole(flipped), digest: true, cause: fetch.WrongDigest, at: others, asked: 2, problems: []string{"403", "SHA-256"}},
		{name: "a refusal says more than nothing there", first: status(404), second: status(401), cause: fetch.Refused, at: others, asked: 2, problems: []string{"404", "401"}},
		{name: "no answer", cause: fetch.Unreachable, at: files, took: pauses, problems: []string{"files.test: no such host", "others.test: no such host", "; given up after 296 s"}},
		{name: "one answers", second: status(503), cause: fetch.Server, at: others, took: pauses, asked: rounds, problems: []string{"no such host", "503"}},
	}
}

func TestSeveralPlaces(t *testing.T) {
	for _, c := range several() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				for at, handler := range map[string]http.HandlerFunc{files: c.first, others: c.second} {
					if handler != nil {
						n.serve(at, handler)
					}
				}
				r := fetch.Request{From: []string{files + "/a", others + "/b"}, MaxBytes: 1 << 20}
				if c.digest {
					r.SHA256 = strings.ToUpper(sum(archive))
				}
				begin := time.Now()
				into := newFile(t, nil)
				got, err := n.client().Get(t.Context(), r, into)
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				if asked := n.asked(); len(asked) != c.asked {
					t.Errorf("%d requests, want %d: %q", len(asked), c.asked, asked)
				}
				if c.cause == "" {
					if err != nil || !strings.HasPrefix(got.From, c.from) || content(t, into) != string(archive) {
						t.Errorf("%+v, %v", got, err)
					}
					return
				}
				var failed *fetch.Error
				if !errors.As(err, &failed) || failed.Cause != c.cause || !strings.HasPrefix(failed.From, c.at) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("%v, %+v", err, failed)
				}
				for _, problem := range c.problems {
					if !strings.Contains(err.Error(), problem) {
						t.Errorf("%q does not say %q", err, problem)
					}
				}
			})
		})
	}
}

// A text that is not a source is an error of that source alone. The error shows no password.
func TestNoPlaces(t *testing.T) {
	n := newNetwork(t)
	n.serve(files, whole(archive))
	for _, from := range []string{
		"", "file", "registry.test/path", "ftp://files.test/a", "oci://files.test/a:1", "https://", "https:///a", "https://me:" + canary + "@%zz/", "https://[::1", "http://files.test:port/",
		"registry.test/Path:v1", "registry.test/path:", "registry.test/path:v 1", "registry.test/path@sha256:12", "registry.test/path@sha512:" + strings.Repeat("0", 128),
		"-registry.test/path:v1", "registry.test/../path:v1", "registry.test/path:v1\n", "https://files.test/\x7f", "me:" + canary + "@registry.test/path:v1",
	} {
		into := newFile(t, nil)
		_, err := n.client().Get(t.Context(), fetch.Request{From: []string{from}, MaxBytes: 1 << 20}, into)
		var failed *fetch.Error
		if !errors.As(err, &failed) || failed.Cause != fetch.NotFound || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", from, err)
		}
		if strings.HasPrefix(from, "http") && strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", from, err)
		}
		if got, err := n.client().Get(t.Context(), fetch.Request{From: []string{from, fileURL}, MaxBytes: 1 << 20}, into); err != nil || got.From != fileURL {
			t.Errorf("%q: %+v, %v", from, got, err)
		}
	}
	for _, r := range []fetch.Request{{}, {From: []string{fileURL}, SHA256: "12"}, {From: []string{fileURL}, SHA256: strings.Repeat("x", 64)}} {
		into := newFile(t, nil)
		var failed *fetch.Error
		if _, err := n.client().Get(t.Context(), r, into); err == nil || errors.As(err, &failed) || !strings.Contains(err.Error(), into.Name()) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if asked := n.asked(); slices.Contains(asked, "") {
		t.Error(asked)
	}
}

// A URL's login goes to its host only, also after a redirect, and no URL is sent as a Referer.
func TestCredentialsStay(t *testing.T) {
	n := newNetwork(t)
	n.serve(files, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, ok := r.BasicAuth(); !ok || name != "me" || password != canary {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		to := files + "/2"
		if r.URL.Path == "/2" {
			to = "https://below.files.test/3?x=y"
		}
		http.Redirect(w, r, to, http.StatusFound)
	}))
	check := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Authorization", "Cookie", "Referer"} {
				if r.Header.Get(name) != "" {
					t.Errorf("%s is sent to %s: %q", name, r.Host, r.Header.Get(name))
				}
			}
			if to != "" {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			whole(archive)(w, r)
		}
	}
	n.serve("https://below.files.test", check(others+"/4"))
	n.serve(others, check(""))
	into := newFile(t, nil)
	got, err := n.client().Get(t.Context(), fetch.Request{From: []string{"https://me:" + canary + "@files.test/1"}, MaxBytes: 1 << 20}, into)
	if err != nil || content(t, into) != string(archive) || strings.Contains(got.From, canary) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = n.client().Get(t.Context(), fetch.Request{From: []string{"https://me:" + canary + "x@files.test/1"}, MaxBytes: 1 << 20}, into)
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

// A server whose certificate is not valid now is tried again: the validity depends on the machine's clock, which may
// still be set.
func TestCertificates(t *testing.T) {
	for name, config := range map[string]*tls.Config{
		"unknown":   {ServerName: "servers.test"},
		"another's": {RootCAs: roots, ServerName: "files.test"},
		"too old":   {RootCAs: roots, ServerName: "servers.test", Time: func() time.Time { return time.Unix(1<<34, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve(files, whole(archive))
				n.transport.TLSClientConfig = config
				begin := time.Now()
				_, err := n.client().Get(t.Context(), fetch.Request{From: []string{fileURL}, MaxBytes: 1 << 20}, newFile(t, nil))
				var failed *fetch.Error
				if !errors.As(err, &failed) || failed.Cause != fetch.Unreachable || time.Since(begin) != pauses || !strings.Contains(err.Error(), "certificate") {
					t.Errorf("%v after %s", err, time.Since(begin))
				}
			})
		})
	}
}

// The end of the caller's time ends a call at once, at any point. The error reports it and the earlier problems.
func TestCallerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		server http.HandlerFunc
		cause  fetch.Cause
		text   string
	}{
		"in a pause":      {status(503), fetch.Server, "503"},
		"in a body":       {first(1, status(503), paused(archive, 10, time.Second)), fetch.Server, "503"},
		"in the first":    {paused(archive, 10, time.Second), fetch.Unreachable, ""},
		"in a long pause": {status(429, "Retry-After", "50"), fetch.Server, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve(files, c.server)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				begin := time.Now()
				_, err := n.client().Get(ctx, fetch.Request{From: []string{fileURL}, MaxBytes: 1 << 20}, newFile(t, nil))
				var failed *fetch.Error
				if !errors.As(err, &failed) || !errors.Is(err, context.DeadlineExceeded) || failed.Cause != c.cause || !strings.Contains(err.Error(), c.text) {
					t.Error(err)
				}
				if took := time.Since(begin); took != 5*time.Second {
					t.Errorf("it ended after %s", took)
				}
			})
		})
	}
}

// Progress reports the file's size, and never more than that.
func TestProgress(t *testing.T) {
	n := newNetwork(t)
	n.serve(files, first(1, cut(200<<10, whole(archive)), whole(archive)))
	client := n.client()
	client.Wait = func(context.Context, time.Duration) error { return nil }
	var last int64
	client.Progress = func(bytes, total int64) {
		if bytes < last || total != int64(len(archive)) {
			t.Errorf("%d of %d after %d", bytes, total, last)
		}
		last = bytes
	}
	if _, err := client.Get(t.Context(), fetch.Request{From: []string{fileURL}, MaxBytes: 1 << 20}, newFile(t, nil)); err != nil || last != int64(len(archive)) {
		t.Errorf("%d bytes, %v", last, err)
	}
}

// Before each pause Waiting gets the errors until then, often enough for a waiting user.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		n.serve(others, first(20, status(503), whole(archive)))
		client := n.client()
		last, said := time.Now(), 0
		client.Waiting = func(why error) {
			if text := why.Error(); !strings.Contains(text, "files.test: no such host") || !strings.Contains(text, "503") || time.Since(last) > 10*time.Second {
				t.Errorf("after %s: %v", time.Since(last), why)
			}
			last, said = time.Now(), said+1
		}
		if _, err := client.Get(t.Context(), fetch.Request{From: []string{fileURL, others + "/b"}, MaxBytes: 1 << 20}, newFile(t, nil)); err != nil || said != 20 {
			t.Errorf("%d times, %v", said, err)
		}
	})
}

// If the file cannot be written, that is not a server's fault: no other source is tried.
func TestOwnFailure(t *testing.T) {
	n := newNetwork(t)
	n.serve(files, whole(archive))
	n.serve(others, whole(archive))
	into := newFile(t, nil)
	readable, err := os.Open(into.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer readable.Close()
	var failed *fetch.Error
	_, err = n.client().Get(t.Context(), fetch.Request{From: []string{fileURL, others + "/b"}, SHA256: sum(archive), MaxBytes: 1 << 20}, readable)
	var path *os.PathError
	if errors.As(err, &failed) || !errors.As(err, &path) || path.Path != into.Name() || len(n.asked()) > 1 {
		t.Error(err)
	}
}

// The configured proxy is used for http and https, and the environment is ignored.
func TestProxy(t *testing.T) {
	t.Setenv("https_proxy", "http://192.0.2.1:3128")
	var wanted []string
	client := &fetch.Client{
		Wait: func(context.Context, time.Duration) error { return errors.New("not again") },
		Proxy: func(u *url.URL) (*url.URL, error) {
			wanted = append(wanted, u.Host)
			return nil, errors.New("proxy says no, with http://me:" + canary + "@proxy/")
		},
	}
	_, err := client.Get(t.Context(), fetch.Request{From: []string{fileURL, plain + "/b"}, MaxBytes: 1 << 20}, newFile(t, nil))
	if !slices.Equal(wanted, []string{"files.test", "plain.test"}) || err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "proxy says no") {
		t.Errorf("%q, %v", wanted, err)
	}
}

// TestSlowPlaceDoesNotKeepFromTheNext: if a source sends a byte now and then, the next source provides the rest.
func TestSlowPlaceDoesNotKeepFromTheNext(t *testing.T) {
	for name, first := range map[string]http.HandlerFunc{
		"one byte":  paused(archive, 1, 10*time.Second),
		"some":      paused(archive, 10<<10, 10*time.Second),
		"nothing":   paused(archive, 0, time.Hour),
		"too late":  paused(archive, 64<<10, 31*time.Second),
		"then none": cut(100<<10, paused(archive, 100<<10, time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve(files, first)
				n.serve(others, whole(archive))
				into := newFile(t, nil)
				begin := time.Now()
				got, err := n.client().Get(t.Context(), fetch.Request{From: []string{fileURL, others + "/file"}, SHA256: sum(archive), MaxBytes: 1 << 20}, into)
				if err != nil || content(t, into) != string(archive) || got.From != others+"/file" {
					t.Errorf("%+v, %v", got, err)
				}
				if took := time.Since(begin); took > 3*time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}
