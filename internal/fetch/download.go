package fetch

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// maxETag limits a server's name for a version of a file, which the client sends back.
const maxETag = 256

// download downloads the rest of a file, or all of it. wanted is its digest, or "" if unknown.
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
	// Pieces may be from different versions, and a power cut may have damaged what an earlier call has left.
	return g.into.discard(otherDigest(has, wanted), g.into.pieces > 1 || g.into.kept > 0)
}

func tooLarge(size, limit int64) *failure {
	return failed(WrongContent, "has %d bytes, and at most %d are allowed", size, limit)
}

func otherDigest(has, wanted string) *failure {
	return failed(WrongDigest, "has SHA-256 %s, and %s is wanted", has, wanted)
}

// rest requests the missing part and writes it.
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

// position truncates the file to the position where an answer's body begins, and returns the whole file's size, or -1
// if the answer does not have it.
func (g *download) position(a *answer, p *remote) (total int64, f *failure) {
	held := g.into.size
	if a.StatusCode == http.StatusOK { // the whole file, from the beginning
		err := g.into.reset()
		g.into.from, g.into.etag = p, strongETag(a.Header)
		return a.ContentLength, ownFailure(err)
	}
	begin, total := contentRange(a.Header.Get("Content-Range"))
	if a.StatusCode == http.StatusPartialContent {
		// A server that does not support If-Range also continues another version of the file.
		same := g.into.etag == "" || g.into.from != p || g.into.etag == strongETag(a.Header)
		if begin == held && held > 0 && same {
			return total, nil
		}
	} else if begin < 0 && total == held && held > 0 {
		return total, nil // the file is already complete
	}
	// The next try starts from the beginning, only once: an empty file is not continued.
	f = failed(WrongContent, "answers %d, and does not continue the file at byte %d", a.StatusCode, held)
	return 0, g.into.discard(f, held > 0)
}

// contentRange returns where a part begins and the whole file's size (RFC 9110, 14.4), or -1 if the header does not
// have it. fmt.Sscanf, which no other code of the agent needs, is 20 KB.
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

// strongETag is the name of exactly these bytes, or "": a weak one (RFC 9110, 8.8.1) may also name others.
func strongETag(header http.Header) string {
	etag := header.Get("ETag")
	if len(etag) < 2 || len(etag) > maxETag || etag[0] != '"' {
		return ""
	}
	return etag
}
