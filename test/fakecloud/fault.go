package fakecloud

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fault is one kind of misbehaviour.
type fault struct {
	text    string
	service string // "" means all
	prefix  string // of the path
	kind    string
	wait    time.Duration
	status  int
	value   string
	size    int
	// until is its end.
	until time.Time
	// left is how many more requests are affected. Negative means all.
	left int
	// percent is the share of affected requests, and seen is the number of requests so far.
	percent, seen int
}

// Misbehave makes the services misbehave from now on, in the given ways. Without ways they behave well. A
// way is "[SERVICE][/PATH-PREFIX ]KIND[*COUNT][%PERCENT]", where KIND is one of
//
//	slow=DURATION      answers, but late
//	drip=DURATION      answers at once, but takes that long for the body
//	status=CODE        answers with the code
//	busy=DURATION      answers 429 with Retry-After, in whole seconds
//	redirect=URL       answers 302 with another address
//	type=CONTENT-TYPE  answers normally, but with another content type
//	garbage            answers 200 with bytes that are no document
//	large=SIZE         answers 200 with that many bytes: "4096", "64KB", "10MB" (of 1000)
//	truncated          announces the whole document and sends half of it
//	blackhole          accepts the connection and never answers
//	down=DURATION      closes the connection at once, until that long after this call
//
// COUNT is how many requests are affected; without it, all are. PERCENT is how many of a hundred are, evenly: with
// %10 the first of ten. Neither "*" nor "%" can be in a URL. Examples: "status=404*3",
// "imds/metadata/instance slow=2s", "wire blackhole", "truncated%10".
func (c *Cloud) Misbehave(ways ...string) error {
	var faults []*fault
	for _, way := range ways {
		f, err := parseFault(way)
		if err != nil {
			return err
		}
		faults = append(faults, f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = faults
	return nil
}

func parseFault(text string) (*fault, error) {
	f := &fault{text: text, left: -1, percent: 100}
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("fault %q: want \"[SERVICE][/PATH ]KIND[*COUNT][%%PERCENT]\"", text)
	}
	if len(fields) == 2 {
		service, path, found := strings.Cut(fields[0], "/")
		f.service = service
		if found {
			f.prefix = "/" + path
		}
	}
	what, percent, partly := strings.Cut(fields[len(fields)-1], "%")
	if partly {
		n, err := strconv.Atoi(percent)
		if err != nil || n < 1 || n > 100 {
			return nil, fmt.Errorf("fault %q: %q is no percentage", text, percent)
		}
		f.percent = n
	}
	what, count, counted := strings.Cut(what, "*")
	if counted {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("fault %q: %q is no count", text, count)
		}
		f.left = n
	}
	f.kind, f.value, _ = strings.Cut(what, "=")
	if err := f.parseValue(); err != nil {
		return nil, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// parseValue parses the text after the kind.
func (f *fault) parseValue() (err error) {
	switch f.kind {
	case "slow", "drip", "busy":
		f.wait, err = time.ParseDuration(f.value)
	case "down":
		f.wait, err = time.ParseDuration(f.value)
		f.until = time.Now().Add(f.wait)
	case "status":
		f.status, err = strconv.Atoi(f.value)
	case "large":
		f.size, err = parseSize(f.value)
	case "redirect", "type":
		if f.value == "" {
			err = errors.New("it has no value")
		}
	case "garbage", "truncated", "blackhole":
	default:
		err = fmt.Errorf("%q is no kind of fault", f.kind)
	}
	return err
}

// parseSize reads a number of bytes.
func parseSize(text string) (int, error) {
	unit := 1
	for _, u := range []struct {
		name  string
		bytes int
	}{{"KB", 1e3}, {"MB", 1e6}} {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = number, u.bytes
		}
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n) * unit, err
}

// faultFor returns the first fault that applies to a request, and counts it.
func (c *Cloud) faultFor(service, path string) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		over := f.left == 0 || !f.until.IsZero() && !time.Now().Before(f.until)
		if over || f.service != "" && f.service != service || !strings.HasPrefix(path, f.prefix) {
			continue
		}
		// The nth request is affected if the number of affected ones must then grow.
		f.seen++
		if (f.seen*f.percent+99)/100 == ((f.seen-1)*f.percent+99)/100 {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		return f
	}
	return nil
}

// apply answers a request with the fault.
func (f *fault) apply(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch f.kind {
	case "slow":
		select {
		case <-time.After(f.wait):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	case "status":
		http.Error(w, http.StatusText(f.status), f.status)
	case "busy":
		w.Header().Set("Retry-After", strconv.Itoa(int(f.wait.Seconds())))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case "redirect":
		w.Header().Set("Location", f.value)
		w.WriteHeader(http.StatusFound)
	case "type":
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		maps.Copy(w.Header(), whole.Header())
		w.Header().Set("Content-Type", f.value)
		w.WriteHeader(whole.Code)
		w.Write(whole.Body.Bytes())
	case "garbage":
		w.Write(bytes.Repeat([]byte("\x00\xff{]<"), 64))
	case "large":
		w.Header().Set("Content-Type", "application/octet-stream")
		io.CopyN(w, filler{}, int64(f.size)) // a client that does not want it closes the connection
	case "drip":
		f.drip(w, r, next)
	case "truncated":
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(whole.Code)
		w.Write(body[:len(body)/2])
		// Without a flush the answer is not sent: the connection would end before the answer began.
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "blackhole":
		<-r.Context().Done()
	case "down":
		panic(http.ErrAbortHandler)
	}
}

// drip answers piece by piece.
func (f *fault) drip(w http.ResponseWriter, r *http.Request, next http.Handler) {
	const pieces = 50
	whole := httptest.NewRecorder()
	next.ServeHTTP(whole, r)
	maps.Copy(w.Header(), whole.Header())
	w.WriteHeader(whole.Code)
	body := whole.Body.Bytes()
	for piece := range slices.Chunk(body, len(body)/pieces+1) {
		w.Write(piece)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(f.wait * time.Duration(len(piece)) / time.Duration(len(body))):
		case <-r.Context().Done():
			return
		}
	}
}

// filler is bytes without end.
type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
