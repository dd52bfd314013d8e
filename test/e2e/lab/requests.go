package lab

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Request is one that a service of the sandbox has had.
type Request struct {
	Service string `json:"service"`
	// Line is its method, its target and how it was answered: "GET /v2/: 200".
	Line string `json:"line"`
}

// Requests are what services were asked, in the order in which they have answered.
type Requests struct {
	mu  sync.Mutex
	all []Request
}

// All returns the requests since the last Clear.
func (r *Requests) All() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Clear forgets the requests.
func (r *Requests) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// of is a handler whose requests are noted as a service's.
func (r *Requests) of(service string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		answer := &answer{ResponseWriter: w, note: func(status int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all = append(r.all, Request{service, fmt.Sprintf("%s %s: %d", q.Method, q.RequestURI, status)})
		}}
		handler.ServeHTTP(answer, q)
		answer.done(http.StatusOK)
	})
}

// answer notes how a request is answered.
type answer struct {
	http.ResponseWriter
	note  func(status int)
	noted bool
}

func (a *answer) done(status int) {
	if !a.noted {
		a.noted = true
		a.note(status)
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.done(status)
	a.ResponseWriter.WriteHeader(status)
}

// Hijack implements http.Hijacker: a connection is taken over by a proxy that says yes.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.done(http.StatusOK)
	return http.NewResponseController(a.ResponseWriter).Hijack()
}
