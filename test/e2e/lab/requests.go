package lab

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Request is a request to a service of the sandbox.
type Request struct {
	Service string `json:"service"`
	// Line is its method, its target and the status of its answer: "GET /v2/: 200".
	Line string `json:"line"`
}

// Requests are the requests to services, in the order of their answers.
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

// of wraps a handler to record its requests for a service.
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

// answer records the status of an answer.
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

// Hijack implements http.Hijacker: a proxy that accepts a tunnel hijacks its connection.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.done(http.StatusOK)
	return http.NewResponseController(a.ResponseWriter).Hijack()
}
