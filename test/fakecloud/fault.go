package fakecloud

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// fault is one way to misbehave.
type fault struct {
	text    string
	service string // "" for all
	prefix  string // of the path
	kind    string
	wait    time.Duration
	status  int
	// left is how many more requests are affected; negative for all.
	left int
}

// Misbehave makes the services misbehave from now on, in the ways given; with none they behave. A
// way is "[SERVICE][/PATH-PREFIX ]KIND[*COUNT]", where KIND is one of
//
//	slow=DURATION      answers, but late
//	status=CODE        answers with the code
//	busy=DURATION      answers 429 with Retry-After, in whole seconds
//	garbage            answers 200 with bytes that are no document
//	truncated          announces the whole document and sends half of it
//	blackhole          accepts the connection and never answers
//
// COUNT is how many requests are affected, all without it. Examples: "status=404*3",
// "imds/metadata/instance slow=2s", "wire blackhole".
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
	f := &fault{text: text, left: -1}
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("fault %q: want \"[SERVICE][/PATH ]KIND[*COUNT]\"", text)
	}
	if len(fields) == 2 {
		service, path, found := strings.Cut(fields[0], "/")
		f.service = service
		if found {
			f.prefix = "/" + path
		}
	}
	what, count, counted := strings.Cut(fields[len(fields)-1], "*")
	if counted {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("fault %q: %q is no count", text, count)
		}
		f.left = n
	}
	kind, value, _ := strings.Cut(what, "=")
	f.kind = kind
	var err error
	switch kind {
	case "slow", "busy":
		f.wait, err = time.ParseDuration(value)
	case "status":
		f.status, err = strconv.Atoi(value)
	case "garbage", "truncated", "blackhole":
	default:
		err = fmt.Errorf("%q is no kind of fault", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// faultFor returns the first fault that applies to a request, and counts it.
func (c *Cloud) faultFor(service, path string) *fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		if f.left == 0 || f.service != "" && f.service != service || !strings.HasPrefix(path, f.prefix) {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		return f
	}
	return nil
}

// apply answers a request the way the fault says.
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
	case "garbage":
		w.Write(bytes.Repeat([]byte("\x00\xff{]<"), 64))
	case "truncated":
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(whole.Code)
		w.Write(body[:len(body)/2])
		// What is not flushed is not sent: the connection would end before the answer began.
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "blackhole":
		<-r.Context().Done()
	}
}
