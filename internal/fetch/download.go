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
func (g *getting) download(ctx context.Context, p *place, wanted string) *failure {
	limit := g.request.MaxBytes
	if size := p.target.size; size > limit {
		return failed(WrongContent, "has %d bytes, and at most %d are allowed", size, limit)
	} else if size >= 0 {
		limit = size
	}
	if err := g.into.begin(p, wanted, limit); err != nil {
		return ownFailure(err)
	}
	if g.into.size == 0 || g.into.size != p.target.size {
		if f := g.rest(ctx, p, limit); f != nil {
			return f
		}
	}
	if g.into.size == 0 {
		return failed(WrongContent, "is empty")
	}
	if has := g.into.sum(); wanted != "" && has != wanted {
		f := failed(WrongDigest, "has SHA-256 %s, and %s is wanted", has, wanted)
		// A file of several pieces may be one of several versions.
		f.stale = g.into.pieces > 1
		f.again = f.stale
		if err := g.into.reset(); err != nil {
			return ownFailure(err)
		}
		return f
	}
	return nil
}

// rest asks for what is missing, and writes it.
func (g *getting) rest(ctx context.Context, p *place, limit int64) *failure {
	header := http.Header{}
	if g.into.size > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", g.into.size))
		if g.into.from == p && g.into.etag != "" {
			header.Set("If-Range", g.into.etag)
		}
	}
	a, f := g.ask(ctx, p, p.target.url, header)
	if f != nil {
		return f
	}
	defer a.Close()
	if f := a.judge(http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable); f != nil {
		return f
	}
	total, f := g.position(a, p)
	switch {
	case f != nil:
		return f
	case total > limit:
		return failed(WrongContent, "has %d bytes, and at most %d are allowed", total, limit)
	case p.target.size >= 0 && total >= 0 && total != p.target.size:
		return failed(WrongContent, "has %d bytes, and %d are announced", total, p.target.size)
	}
	if a.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		progress := func() {
			if g.client.Progress != nil {
				g.client.Progress(g.into.size, max(total, p.target.size, 0))
			}
		}
		if f := g.into.take(a, limit, progress); f != nil {
			return f
		}
	}
	if announced := max(total, p.target.size); announced >= 0 && g.into.size != announced {
		return failed(WrongContent, "ends after %d of %d bytes", g.into.size, announced).retried()
	}
	return nil
}

// position makes the file end where an answer's body begins, and returns how large the whole file is, -1 if the answer does
// not say it.
func (g *getting) position(a *answer, p *place) (total int64, f *failure) {
	held := g.into.size
	switch a.StatusCode {
	case http.StatusOK: // all of it, from the beginning
		if err := g.into.reset(); err != nil {
			return 0, ownFailure(err)
		}
		g.into.from, g.into.etag = p, strongETag(a.Header)
		return a.ContentLength, nil
	case http.StatusPartialContent:
		begin, total, ok := contentRange(a.Header.Get("Content-Range"))
		// A server that does not know If-Range continues another version of the file, too.
		same := g.into.etag == "" || g.into.from != p || strongETag(a.Header) == g.into.etag
		if ok && held > 0 && begin == held && same {
			return total, nil
		}
		f = failed(WrongContent, "answers with another part of the file than byte %d and on", held)
	default:
		// What is there is the whole file already, or more than it.
		if _, total, ok := contentRange(a.Header.Get("Content-Range")); ok && held > 0 && total == held {
			return total, nil
		}
		f = failed(WrongContent, "answers %s", a.status())
	}
	// From the beginning the next time, and only once: with nothing there, no part is asked for.
	f.stale = held > 0
	f.again = f.stale
	if err := g.into.reset(); err != nil {
		return 0, ownFailure(err)
	}
	return 0, f
}

// contentRange reads "bytes BEGIN-END/TOTAL" and "bytes */TOTAL" (RFC 9110, 14.4). What is not said is -1.
func contentRange(text string) (begin, total int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	part, whole, cut := strings.Cut(text, "/")
	if !ok || !cut {
		return 0, 0, false
	}
	begin, total = -1, -1
	if part != "*" {
		first, _, _ := strings.Cut(part, "-")
		if begin, ok = number(first); !ok {
			return 0, 0, false
		}
	}
	if whole != "*" {
		if total, ok = number(whole); !ok {
			return 0, 0, false
		}
	}
	return begin, total, true
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}

// strongETag is the name of exactly these bytes, or "": a weak one (RFC 9110, 8.8.1) may be that of others, too.
func strongETag(header http.Header) string {
	etag := header.Get("ETag")
	if len(etag) < 2 || len(etag) > maxETag || etag[0] != '"' || etag[len(etag)-1] != '"' {
		return ""
	}
	return etag
}
