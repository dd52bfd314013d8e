package fetch

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// maxETag bounds what a server calls a version of a file, which is sent back to it.
const maxETag = 256

// download brings the rest of a file, or all of it. wanted is its digest, or "" if nobody knows it.
func (g *download) download(ctx context.Context, p *remote, wanted string) *failure {
	limit := g.request.MaxBytes
	if p.size > limit {
		return tooLarge(p.size, limit)
	}
	if p.size >= 0 {
		limit = p.size
	}
	f := ownFailure(g.into.begin(p, wanted, limit))
	if f == nil && (g.into.size == 0 || g.into.size != p.size) {
		f = g.rest(ctx, p, limit)
	}
	if f != nil {
		return f
	}
	if g.into.size == 0 {
		return failed(WrongContent, "is empty")
	}
	has := g.into.sum()
	if wanted == "" || has == wanted {
		return nil
	}
	// Several pieces may be of several versions, and a power cut may have spoiled what an earlier call has left.
	return g.into.discard(otherDigest(has, wanted), g.into.pieces > 1 || g.into.kept > 0)
}

func tooLarge(size, limit int64) *failure {
	return failed(WrongContent, "has %d bytes, and at most %d are allowed", size, limit)
}

func otherDigest(has, wanted string) *failure {
	return failed(WrongDigest, "has SHA-256 %s, and %s is wanted", has, wanted)
}

// rest asks for what is missing, and writes it.
func (g *download) rest(ctx context.Context, p *remote, limit int64) *failure {
	header := http.Header{}
	if g.into.size > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", g.into.size))
		if g.into.from == p && g.into.etag != "" {
			header.Set("If-Range", g.into.etag)
		}
	}
	a, f := g.ask(ctx, p, p.url, header)
	if f != nil {
		return f
	}
	defer a.Close()
	if f := a.judge(http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable); f != nil {
		return f
	}
	total, f := g.position(a, p)
	if f == nil && total > limit {
		f = tooLarge(total, limit)
	}
	total = max(total, p.size)
	if f == nil && a.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		f = g.into.take(a, limit, func() {
			if g.client.Progress != nil {
				g.client.Progress(g.into.size, max(total, 0))
			}
		})
	}
	if f == nil && total >= 0 && g.into.size != total {
		f = failed(WrongContent, "ends after %d of %d bytes", g.into.size, total).retried()
	}
	return f
}

// position makes the file end where an answer's body begins, and returns how large the whole file is, -1 if the answer does
// not say it.
func (g *download) position(a *answer, p *remote) (total int64, f *failure) {
	held := g.into.size
	if a.StatusCode == http.StatusOK { // all of it, from the beginning
		err := g.into.reset()
		g.into.from, g.into.etag = p, strongETag(a.Header)
		return a.ContentLength, ownFailure(err)
	}
	begin, total := contentRange(a.Header.Get("Content-Range"))
	if a.StatusCode == http.StatusPartialContent {
		// A server that does not know If-Range continues another version of the file, too.
		same := g.into.etag == "" || g.into.from != p || g.into.etag == strongETag(a.Header)
		if begin == held && held > 0 && same {
			return total, nil
		}
	} else if begin < 0 && total == held && held > 0 {
		return total, nil // what is there is the whole file already
	}
	// From the beginning the next time, and only once: with nothing there, no part is asked for.
	f = failed(WrongContent, "answers %d, and does not continue the file at byte %d", a.StatusCode, held)
	return 0, g.into.discard(f, held > 0)
}

// contentRange says where a part begins and how large the whole file is (RFC 9110, 14.4), -1 where the header does not say it.
// fmt.Sscanf, which nothing else of the agent needs, is 20 KB.
func contentRange(header string) (begin, total int64) {
	number := func(text string) int64 {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return -1
		}
		return int64(n)
	}
	rest, inBytes := strings.CutPrefix(header, "bytes ")
	part, whole, _ := strings.Cut(rest, "/")
	first, last, _ := strings.Cut(part, "-")
	switch begin = number(first); {
	case inBytes && part == "*":
		return -1, number(whole)
	case inBytes && begin >= 0 && number(last) >= 0:
		return begin, number(whole)
	}
	return -1, -1
}

// strongETag is the name of exactly these bytes, or "": a weak one (RFC 9110, 8.8.1) may be that of others, too.
func strongETag(header http.Header) string {
	etag := header.Get("ETag")
	if len(etag) < 2 || len(etag) > maxETag || etag[0] != '"' {
		return ""
	}
	return etag
}
