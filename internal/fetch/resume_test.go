package fetch_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// piece is the size at which each download is cut.
const piece = 64 << 10

// atOnce is a client that does not wait: only its clock advances.
func atOnce(n *network) *fetch.Client {
	c := n.client()
	var now time.Time
	c.Now = func() time.Time { return now }
	c.Wait = func(ctx context.Context, d time.Duration) error {
		now = now.Add(d)
		return ctx.Err()
	}
	return c
}

// A connection that breaks after every 64 KiB still delivers the whole file, and each byte once.
func TestCutEvery64KiB(t *testing.T) {
	long := bytes.Repeat(archive, 7)[:2<<20+12345]
	registry := newArtifact("tool", long)
	for name, c := range map[string]struct {
		from   string
		server http.Handler
		digest string
		asked  int
	}{
		"a URL, by its digest":              {fileURL, cut(piece, withoutETag(whole(long))), sum(long), 33},
		"a URL, by its ETag":                {fileURL, cut(piece, whole(long)), "", 33},
		"a registry, by the blob's digest":  {"files.test/aks/tool:v1", blobs(cut, registry), "", 34},
		"a registry, by the request's, too": {"files.test/aks/tool:v1", blobs(cut, registry), sum(long), 34},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			n.serve(files, c.server)
			into := newFile(t, nil)
			got, err := atOnce(n).Get(t.Context(), fetch.Request{From: []string{c.from}, SHA256: c.digest, MaxBytes: 4 << 20}, into)
			if err != nil || content(t, into) != string(long) || got.SHA256 != sum(long) || got.Resumed != 0 {
				t.Errorf("%+v, %v", got, err)
			}
			if asked := n.asked(); len(asked) != c.asked {
				t.Errorf("%d requests, want %d", len(asked), c.asked)
			}
		})
	}
}

func withoutETag(handler http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(noETag{w}, r) }
}

type noETag struct{ http.ResponseWriter }

func (w noETag) WriteHeader(status int) {
	w.Header().Del("ETag")
	w.ResponseWriter.WriteHeader(status)
}

func (w noETag) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// blobs cuts only requests below blobs.
func blobs(cut func(int, http.Handler) http.HandlerFunc, handler http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			cut(piece, handler)(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}
}

// sent counts the bytes that a server sends.
type sent struct {
	mu    sync.Mutex
	bytes int
}

func (s *sent) of(handler http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(countingWriter{w, s}, r) }
}

type countingWriter struct {
	http.ResponseWriter
	sent *sent
}

func (w countingWriter) Write(p []byte) (int, error) {
	w.sent.mu.Lock()
	w.sent.bytes += len(p)
	w.sent.mu.Unlock()
	return w.ResponseWriter.Write(p)
}

// A call continues at any point where an earlier one has ended, if the digest of the whole file is right at the end.
func TestGoesOnAfterAnEarlierCall(t *testing.T) {
	registry := newArtifact("tool", archive)
	for at := 0; at <= len(archive); at += piece {
		for _, from := range []string{fileURL, "files.test/aks/tool:v1"} {
			t.Run(fmt.Sprintf("%d %s", at, from), func(t *testing.T) {
				n := newNetwork(t)
				var s sent
				r := fetch.Request{From: []string{from}, MaxBytes: 1 << 20}
				var server http.Handler = registry
				if from == fileURL {
					server, r.SHA256 = whole(archive), sum(archive)
				}
				n.serve(files, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, "/manifests/") {
						server.ServeHTTP(w, r)
						return
					}
					s.of(server)(w, r)
				}))
				into := newFile(t, archive[:at])
				got, err := atOnce(n).Get(t.Context(), r, into)
				if err != nil || content(t, into) != string(archive) || got.Resumed != int64(at) || got.Bytes != int64(len(archive)) || !got.Checked {
					t.Errorf("%+v, %v", got, err)
				}
				if at < len(archive) && s.bytes != len(archive)-at {
					t.Errorf("%d bytes were sent", s.bytes)
				}
			})
		}
	}
}

// A complete blob that a power cut has damaged is downloaded again.
func TestSpoiledBlob(t *testing.T) {
	n := newNetwork(t)
	n.serve(files, newArtifact("tool", archive))
	into := newFile(t, flipped)
	got, err := atOnce(n).Get(t.Context(), fetch.Request{From: []string{"files.test/aks/tool:v1"}, MaxBytes: 1 << 20}, into)
	if err != nil || content(t, into) != string(archive) || got.Resumed != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A failed call leaves the downloaded part, and the next one continues there. Without a digest it starts again.
func TestFailureLeavesTheBeginning(t *testing.T) {
	for _, digest := range []string{sum(archive), ""} {
		n := newNetwork(t)
		n.serve(files, first(1, cut(1000, whole(archive)), first(rounds-1, status(503), whole(archive))))
		into := newFile(t, nil)
		r := fetch.Request{From: []string{fileURL}, SHA256: digest, MaxBytes: 1 << 20}
		if _, err := atOnce(n).Get(t.Context(), r, into); err == nil || content(t, into) != string(archive[:1000]) {
			t.Fatal(err)
		}
		want := int64(0)
		if digest != "" {
			want = 1000
		}
		if got, err := atOnce(n).Get(t.Context(), r, into); err != nil || got.Resumed != want || content(t, into) != string(archive) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
