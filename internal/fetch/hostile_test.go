package fetch_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// archive is the wanted file, and flipped the same with one wrong bit.
var archive, flipped = func() ([]byte, []byte) {
	data := make([]byte, 300<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	other := bytes.Clone(data)
	other[123456] ^= 4
	return data, other
}()

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

const (
	files   = "https://files.test"
	others  = "https://others.test"
	plain   = "http://plain.test"
	fileURL = files + "/v1/archive.tgz"
	canary  = "canary0c4e"
)

// whole serves the file as a web server does: with ranges, and with an ETag.
func whole(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+sum(data)[:16]+`"`)
		http.ServeContent(w, r, "archive.tgz", time.Time{}, bytes.NewReader(data))
	}
}

// simple sends the file and supports neither ranges nor ETags.
func simple(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }
}

// cut closes each connection after some bytes of a body.
func cut(after int, handler http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&cutWriter{w, after}, r)
	}
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	_, _ = w.ResponseWriter.Write(p[:n])
	if w.left -= n; n < len(p) {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// first uses one handler for the first n requests, and another one for all later ones.
func first(n int64, handler, then http.Handler) http.HandlerFunc {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1) <= n {
			handler.ServeHTTP(w, r)
			return
		}
		then.ServeHTTP(w, r)
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, canary)
	}
}

func withHeaders(handler http.Handler, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		handler.ServeHTTP(w, r)
	}
}

// endless is a body without length and end.
func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write(archive); err != nil {
			return
		}
	}
}

// large takes longer than the patience if each of its parts comes just in time.
var large = bytes.Repeat(archive, 3)

// paused sends a part of the file, waits, sends the next one.
func paused(data []byte, part int, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		for rest := data; len(rest) > 0; {
			n := min(part, len(rest))
			_, _ = w.Write(rest[:n])
			_ = http.NewResponseController(w).Flush()
			rest = rest[n:]
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// raw writes bytes instead of an HTTP answer.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

// mixed answers with a part of the file that was not requested.
func mixed(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Range") == "" {
		cut(1000, simple(archive))(w, r)
		return
	}
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 7-99/%d", len(archive)))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(archive[7:100])
}

// forgetful has another version of the file after each request, and continues any version.
func forgetful() http.HandlerFunc {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		n := count.Add(1)
		data := bytes.Repeat([]byte{byte('0' + n)}, 1000)
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
		if n >= 3 {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			return
		}
		r.Header.Del("If-Range")
		cut(600/int(n), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}))(w, r)
	}
}

type hostile struct {
	name   string
	server http.HandlerFunc
	// digest reports whether the request has the file's digest.
	digest bool
	// holds is the file's earlier content.
	holds []byte
	// cause is empty for a successful download; want is its content, by default archive; text is a part of the error.
	cause fetch.Cause
	text  string
	want  []byte
	took  time.Duration
	asked int
}

// all rounds, and the pauses between them: 0.5, 1, 2, 4, 8 and 28 times 10 seconds. One more would begin after 300 seconds.
const (
	rounds = 34
	pauses = 295500 * time.Millisecond
)

// hostiles are servers' behaviours. They count their requests, so each run needs a new list.
func hostiles() []hostile {
	return []hostile{
		{name: "the file", server: whole(archive), asked: 1},
		{name: "the file, checked", server: whole(archive), digest: true, asked: 1},
		{name: "a simple server", server: simple(archive), digest: true, asked: 1},
		{name: "HTML", server: withHeaders(simple([]byte("<html>log in</html>")), "Content-Type", "text/html; charset=utf-8"),
			cause: fetch.WrongContent, text: "text/html", asked: 1},
		{name: "XHTML, badly said", server: withHeaders(simple(archive), "Content-Type", "Application/XHTML+xml; charset"), digest: true,
			cause: fetch.WrongContent, text: "page", asked: 1},
		{name: "half a file", server: cut(len(archive)/2, simple(archive)), cause: fetch.WrongContent, text: "ends after 153600 bytes", took: pauses + 100*time.Millisecond, asked: rounds + 1},
		{name: "half a file, once", server: first(1, cut(len(archive)/2, whole(archive)), whole(archive)), took: 100 * time.Millisecond, asked: 2},
		{name: "half a file of a simple server, once", server: first(1, cut(len(archive)/2, simple(archive)), simple(archive)), digest: true, took: 100 * time.Millisecond, asked: 2},
		{name: "a little more each time", server: cut(1000, whole(archive)), digest: true, cause: fetch.WrongContent, text: "ends after 34000 bytes", took: pauses, asked: rounds},
		{name: "one flipped bit", server: whole(flipped), digest: true, cause: fetch.WrongDigest, text: sum(archive), asked: 1},
		{name: "one flipped bit without a digest", server: whole(flipped), want: flipped, asked: 1},
		{name: "the beginning of another file", server: whole(archive), digest: true, holds: flipped[:200000], took: 100 * time.Millisecond, asked: 2},
		{name: "the beginning, and a flipped bit after it", server: whole(flipped), digest: true, holds: archive[:100000],
			cause: fetch.WrongDigest, took: 100 * time.Millisecond, asked: 2},
		{name: "a file that is longer than it should be", server: whole(archive), digest: true, holds: append(bytes.Clone(archive), 'x'), took: 100 * time.Millisecond, asked: 2},
		{name: "a file of the same size that a power cut has spoiled", server: whole(archive), digest: true, holds: make([]byte, len(archive)), took: 100 * time.Millisecond, asked: 2},
		{name: "a file that is there", server: whole(archive), digest: true, holds: archive, asked: 1},
		{name: "the beginning of an unknown file", server: whole(archive), holds: archive[:1000], asked: 1},
		{name: "another part than asked for", server: http.HandlerFunc(mixed), digest: true, holds: archive[:500], cause: fetch.WrongContent, took: pauses + 100*time.Millisecond*rounds, asked: 2 * rounds},
		{name: "a part that was not requested", server: status(206, "Content-Range", "bytes 5-10/11"), cause: fetch.WrongContent, text: "answers 206", asked: 1},
		{name: "a part that does not say where it ends", server: first(1, status(206, "Content-Range", "bytes 500/307200"), whole(archive)), digest: true, holds: archive[:500], took: 100 * time.Millisecond, asked: 2},
		{name: "a part of another unit", server: first(1, status(206, "Content-Range", "500-999/307200"), whole(archive)), digest: true, holds: archive[:500], took: 100 * time.Millisecond, asked: 2},
		{name: "no such part, and a part all the same", server: first(1, status(416, "Content-Range", "bytes 0-5/307200"), whole(archive)), digest: true, holds: archive, took: 100 * time.Millisecond, asked: 2},
		{name: "no such part", server: status(416), cause: fetch.WrongContent, text: "416", asked: 1},
		{name: "versions that change", server: forgetful(), want: bytes.Repeat([]byte{'3'}, 1000), took: 600 * time.Millisecond, asked: 3},
		{name: "a file that changes", server: first(1, cut(100<<10, whole(flipped)), whole(archive)), took: 100 * time.Millisecond, asked: 2},
		{name: "nothing", server: simple(nil), cause: fetch.WrongContent, text: "is empty", asked: 1},
		{name: "an endless body", server: endless, cause: fetch.WrongContent, text: "larger than 1048576 bytes", asked: 1},
		{name: "a body that is too large", server: withHeaders(raw("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n"), "X", "Y"), cause: fetch.WrongContent, text: "1048577 bytes", asked: 1},
		{name: "a body that stops", server: paused(archive, 10, time.Hour), cause: fetch.Unreachable, text: "sends less than 64 KiB in 30 s; given up after 316 s", took: 315500 * time.Millisecond, asked: 9},
		{name: "a body that is slow", server: paused(archive, 100<<10, 29*time.Second), took: 58 * time.Second, asked: 1},
		{name: "no answer", server: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, cause: fetch.Unreachable, text: "sends nothing any more; given up after 308 s", took: 307500 * time.Millisecond, asked: 5},
		{name: "a body that trickles", server: paused(archive, 1, 10*time.Second), cause: fetch.Unreachable, text: "sends less than 64 KiB in 30 s; given up after 316 s", took: 315500 * time.Millisecond, asked: 9},
		{name: "a file that takes longer than the patience, then a server that is busy", digest: true, want: large, took: 351600 * time.Millisecond, asked: 5,
			server: first(1, cut(800<<10, paused(large, 64<<10, 29*time.Second)), first(3, status(503), whole(large)))},
		{name: "a file that begins again and again", server: cut(800<<10, paused(large, 64<<10, 29*time.Second)), digest: true, want: large,
			cause: fetch.WrongContent, text: "given up after 696 s", took: 696100 * time.Millisecond, asked: 2},
		{name: "compressed bytes", server: withHeaders(simple(archive), "Content-Encoding", "gzip"), digest: true, asked: 1},
		{name: "too many requests, twice", server: first(2, status(429, "Retry-After", "7"), whole(archive)), took: 14 * time.Second, asked: 3},
		{name: "too many requests, by a date", server: first(1, status(429, "Retry-After", "Mon, 02 Jan 2006 15:04:45 GMT", "Date", "Mon, 02 Jan 2006 15:04:05 GMT"), whole(archive)), took: 40 * time.Second, asked: 2},
		{name: "too many requests for a year", server: first(1, status(429, "Retry-After", "31536000"), whole(archive)), took: time.Minute, asked: 2},
		{name: "too many requests", server: status(429), cause: fetch.Server, text: "429 Too Many Requests; given up after 296 s", took: pauses, asked: rounds},
		{name: "too many requests, for long", server: status(429, "Retry-After", "70"), cause: fetch.Server, text: "429 Too Many Requests; given up after 300 s", took: 5 * time.Minute, asked: 6},
		{name: "a server that begins late", server: first(33, status(503), whole(archive)), took: pauses, asked: 34},
		{name: "an error, twice", server: first(2, status(503), whole(archive)), took: 1500 * time.Millisecond, asked: 3},
		{name: "an error", server: status(500), cause: fetch.Server, text: "500 Internal Server Error", took: pauses, asked: rounds},
		{name: "no such status", server: status(799), cause: fetch.Server, text: "799", asked: 1},
		{name: "not there", server: status(404), cause: fetch.NotFound, text: "404 Not Found", asked: 1},
		{name: "not there any more", server: status(410), cause: fetch.NotFound, asked: 1},
		{name: "who are you", server: status(401, "WWW-Authenticate", `Bearer realm="https://others.test/token"`), cause: fetch.Refused, text: "401", asked: 1},
		{name: "not for you", server: status(403), cause: fetch.Refused, text: "403", asked: 1},
		{name: "not modified", server: status(304), cause: fetch.Server, text: "304", asked: 1},
		{name: "not HTTP", server: raw("SSH-2.0-server\r\n\r\n"), cause: fetch.Unreachable, took: pauses, asked: rounds},
		{name: "closed at once", server: raw(""), cause: fetch.Unreachable, took: pauses, asked: rounds},
		{name: "closed at once, twice", server: first(2, raw(""), whole(archive)), took: 1500 * time.Millisecond, asked: 3},
		{name: "a bad length", server: raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), cause: fetch.Unreachable, took: pauses, asked: rounds},
		{name: "redirects to itself", server: http.RedirectHandler(fileURL, http.StatusFound).ServeHTTP, cause: fetch.WrongContent, text: "more often than 5 times", asked: 6},
		{name: "redirects to http", server: http.RedirectHandler(plain+"/?sig="+canary, http.StatusFound).ServeHTTP, cause: fetch.WrongContent, text: "from https to " + plain, asked: 1},
		{name: "redirects to a file", server: http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP, cause: fetch.WrongContent, text: "from https to file", asked: 1},
		{name: "redirects to another host", server: http.RedirectHandler(others+"/?sig="+canary, http.StatusTemporaryRedirect).ServeHTTP, digest: true, asked: 2},
		{name: "redirects nowhere", server: status(302), cause: fetch.Server, text: "302", asked: 1},
	}
}

func TestHostileServers(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.serve(files, h.server)
				n.serve(others, whole(archive))
				n.serve(plain, whole(archive))
				h.check(t, n)
			})
		})
	}
}

func (h hostile) check(t *testing.T, n *network) {
	r := fetch.Request{From: []string{fileURL + "?sig=" + canary}, MaxBytes: 1 << 20}
	want := h.want
	if want == nil {
		want = archive
	}
	if h.digest {
		r.SHA256 = sum(want)
	}
	into := newFile(t, h.holds)
	begin := time.Now()
	got, err := n.client().Get(t.Context(), r, into)
	if took := time.Since(begin); took != h.took {
		t.Errorf("it took %s, want %s", took, h.took)
	}
	if asked := n.asked(); len(asked) != h.asked {
		t.Errorf("%d requests, want %d: %.5q", len(asked), h.asked, asked)
	}
	if h.cause == "" {
		if err != nil || content(t, into) != string(want) || got.SHA256 != sum(want) || got.Bytes != int64(len(want)) || got.Checked != h.digest || got.From != fileURL {
			t.Errorf("%+v, %v, and the file has %d bytes", got, err, len(content(t, into)))
		}
		return
	}
	var failed *fetch.Error
	if !errors.As(err, &failed) || failed.Cause != h.cause || !strings.Contains(err.Error(), h.text) || failed.From != fileURL || got != (fetch.Fetched{}) {
		t.Errorf("%+v, %v, want %q with %q", got, err, h.cause, h.text)
	}
	if text := err.Error(); !strings.HasPrefix(text, fileURL+": ") || strings.Contains(text, canary) || strings.Contains(text, "\n") {
		t.Errorf("the error says %q", text)
	}
	if h.cause == fetch.WrongDigest && content(t, into) != "" {
		t.Error("what is wrong is left for the next call")
	}
}
