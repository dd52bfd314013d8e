package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

const (
	// Deadline is how long a collection may take. Then the rest is left out.
	Deadline = 30 * time.Second
	// gatherLimit limits looking for the machine's secrets, and readLimit reading one source.
	gatherLimit = 15 * time.Second
	readLimit   = 8 * time.Second
)

// Document is a document that another part of the agent makes. It comes before the items.
type Document struct {
	// Name is its name in the bundle, and Why is why a supporter wants it.
	Name, Why string
	// Limit is how long Produce may take. 0 means as long as any other source.
	Limit time.Duration
	// Produce returns a value for JSON.
	Produce func(ctx context.Context) (any, error)
}

// Collector collects the bundle of a machine.
type Collector struct {
	Machine Machine
	// Documents are what other parts of the agent produce.
	Documents []Document
	// Version is the agent's version, and Now the clock.
	Version string
	Now     func() time.Time
	// Progress is called before each source is read. It may be nil.
	Progress func(source string)
}

// Write collects the bundle and writes it as a stream. When ctx is done, or after Deadline, it leaves out the rest. It returns the
// manifest. An error means that the stream could not be written.
func (c *Collector) Write(ctx context.Context, to io.Writer) (*supportbundle.Manifest, error) {
	begin := c.Now()
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	held, err := within(ctx, gatherLimit, c.gather)
	if err != nil {
		return nil, fmt.Errorf("the files with this machine's secrets cannot be read, so no bundle can be made without them: %w", err)
	}
	w, err := supportbundle.NewWriter(to, c.Version, begin)
	if err != nil {
		return nil, err
	}
	scrubber := &redact.Scrubber{Known: held.known}
	for _, p := range c.plan(held, w.Missing) {
		if c.Progress != nil {
			c.Progress(p.source)
		}
		if err := c.collect(ctx, w, scrubber, p); err != nil {
			return nil, err
		}
	}
	return w.Close(c.Now().Sub(begin), held.notes()...)
}

// plan returns all files of the bundle in their order, and reports what is missing.
func (c *Collector) plan(held *holdings, report gone) []part {
	parts := c.documents(held)
	for _, item := range Items() {
		parts = append(parts, c.parts(item, report)...)
	}
	return parts
}

// full is why a source, or a part of it, is not in a bundle that has as many bytes as it may.
const full = "the bundle is full"

// errLate means that the deadline has passed.
var errLate = fmt.Errorf("the collection took longer than %s", Deadline)

// collect reads a source, removes the secrets, and adds the rest to the bundle. The error is that of the stream.
func (c *Collector) collect(ctx context.Context, w *supportbundle.Writer, scrubber *redact.Scrubber, p part) error {
	f := supportbundle.File{Name: supportbundle.SafeName(p.name), Source: p.source, Why: p.why}
	if w.Left() == 0 {
		w.Missing(p.source, full)
		return nil
	}
	data, err := c.clean(ctx, scrubber, p, &f)
	if err != nil {
		w.Missing(p.source, redact.Line(err.Error(), 300))
		return nil
	}
	if limit := min(w.Left(), supportbundle.MaxFile); int64(len(data)) > limit {
		kept := end(data, true, limit, full)
		data, f.Truncated = data[kept.from:], cmp.Or(f.Truncated, kept.cut)
	}
	if len(data) == 0 {
		w.Missing(p.source, cmp.Or(f.Truncated, "is empty"))
		return nil
	}
	err = w.Add(f, data)
	if refused, ok := errors.AsType[*supportbundle.RefusedError](err); ok {
		w.Missing(p.source, refused.Error())
		return nil
	}
	return err
}

// clean returns the content of a source without secrets.
func (c *Collector) clean(ctx context.Context, scrubber *redact.Scrubber, p part, f *supportbundle.File) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, errLate
	}
	read, err := within(ctx, cmp.Or(p.limit, readLimit), p.read)
	if err != nil {
		return nil, err
	}
	// A text with NULs, such as a log after a power cut or one in UTF-16, can be searched without them.
	if n := bytes.Count(read.data, []byte{0}); n > 0 {
		before := bytes.Count(read.data[:read.from], []byte{0})
		read.data, read.from = bytes.ReplaceAll(read.data, []byte{0}, nil), read.from-before
		read.cut = cmp.Or(read.cut, fmt.Sprintf("%d NUL bytes are left out", n))
	}
	if !searchable(read.data) {
		return nil, errors.New("is compressed or binary: it cannot be searched for secrets")
	}
	data, removed, err := scrubber.Scrub(read.data, read.from)
	f.Truncated, f.Redactions = read.cut, removed
	return data, err
}

// searchable reports whether data is text: at most a tenth of it is something else.
func searchable(data []byte) bool {
	odd := 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\x1b' {
			odd++
		}
		i += size
	}
	return odd*10 <= len(data)
}
