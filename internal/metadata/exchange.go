package metadata

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The limits of answers, in bytes.
const (
	// MaxUserData bounds user data. Azure has 64 KiB, EC2 16 KiB at most; a seed can be larger.
	MaxUserData = 1 << 20
	// maxEncoded is that in base64, with white space around it and line ends in it.
	maxEncoded = MaxUserData/3*4 + MaxUserData/32
	// maxInstance bounds a document that describes the machine. On Azure it includes custom tags and the user
	// data.
	maxInstance = 512 << 10
	maxHostname = 4 << 10
	// maxToken bounds a token, which has some fifty bytes.
	maxToken = 4 << 10
	// maxGoalState bounds the wire server's document, and what it answers to a report.
	maxGoalState = 64 << 10
	maxHeader    = 64 << 10
)

// policy says which statuses are tried again, besides the server's errors (5xx).
type policy struct {
	again []int
	// settle is for how long 404 is tried again.
	settle time.Duration
}

// question is one request.
type question struct {
	method, url string
	header      map[string]string
	body        string
	// limit bounds the answer's body.
	limit int
	// refused are media types that something else than the service answers with.
	refused []string
	policy  policy
}

// answer is an answer that was read to its end: a success, or 304 to a question that has a condition.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange asks a question.
func exchange(ctx context.Context, client *http.Client, q question) (answer, *failure) {
	request, err := http.NewRequestWithContext(ctx, q.method, q.url, strings.NewReader(q.body))
	if err != nil {
		// The error quotes the URL, with a password that may be in it.
		return answer{}, failed(redacted(q.url), WrongType, "is not a URL that can be requested")
	}
	where := request.URL.Redacted()
	for name, value := range q.header {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, unanswered(where, err)
	}
	defer response.Body.Close()
	if f := judge(where, response, q); f != nil {
		return answer{}, f
	}
	if response.ContentLength > int64(q.limit) {
		return answer{}, tooLarge(where, q.limit)
	}
	var body bytes.Buffer
	switch n, err := body.ReadFrom(io.LimitReader(response.Body, int64(q.limit)+1)); {
	case err != nil:
		return answer{}, interrupted(where, err)
	case n > int64(q.limit):
		return answer{}, tooLarge(where, q.limit)
	}
	return answer{response.StatusCode, response.Header, body.Bytes()}, nil
}

func tooLarge(where string, limit int) *failure {
	return failed(where, TooLarge, fmt.Sprintf("is larger than the limit of %d bytes", limit))
}

// redacted is a URL without its password, or nothing of it where that cannot be told.
func redacted(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "the URL"
	}
	return parsed.Redacted()
}

// statuses are those with a meaning of their own; all others are of the kind Status.
var statuses = map[int]Kind{
	http.StatusUnauthorized: Denied, // EC2: the token is not valid
	http.StatusForbidden:    Denied, // EC2: the service is turned off
	http.StatusNotFound:     NotFound,
}

// judge reports what is wrong with an answer, before its body is read.
func judge(where string, response *http.Response, q question) *failure {
	status := response.StatusCode
	if status == http.StatusNotModified && q.header[ifNoneMatch] != "" {
		return nil
	}
	// Of a document only the whole one will do; a report may also be answered with 201 or 204.
	if status == http.StatusOK || status/100 == 2 && q.method != http.MethodGet {
		return judgeType(where, response.Header.Get("Content-Type"), q.refused)
	}
	kind, known := statuses[status]
	switch {
	case known:
	case status/100 == 3 && status != http.StatusNotModified:
		kind = Redirect
	default:
		kind = Status
	}
	f := failed(where, kind, strings.TrimSpace(fmt.Sprintf("answers %d %s", status, http.StatusText(status))))
	f.unauthorized = status == http.StatusUnauthorized
	if kind == NotFound {
		f.settle = q.policy.settle
	}
	f.again = status/100 == 5 || slices.Contains(q.policy.again, status)
	if f.again {
		f.after = RetryAfter(response.Header)
	}
	return f
}

// judgeType refuses documents of other types. A service that names no type, or one that cannot be read, is
// not held to it.
func judgeType(where, contentType string, refused []string) *failure {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		name, _, _ = strings.Cut(contentType, ";")
		name = strings.ToLower(strings.TrimSpace(name))
	}
	if at := slices.Index(refused, name); at >= 0 {
		return failed(where, WrongType, "answers with "+refused[at]+", which is not the requested document")
	}
	return nil
}

// RetryAfter is how long a service wants to be left alone (RFC 9110, section 10.2.3), 0 for no wish. A date
// is taken by the service's own clock where the answer has it, because a machine's may be wrong until it is set.
func RetryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(until.Sub(now), 0)
}

// unanswered reports why there was no answer. The error itself is not repeated, because it can quote what came in
// an answer's place.
func unanswered(where string, err error) *failure {
	var notConnected unconnected
	var elsewhere *notAllowed
	var number syscall.Errno
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var network *net.OpError
	var f *failure
	switch {
	case errors.As(err, &elsewhere):
		f = failed(where, Denied, elsewhere.Error())
	case errors.As(err, &certificate):
		f = failed(where, Denied, "the server's certificate cannot be verified")
	case timedOut(err):
		f = failed(where, Timeout, "no answer in time").retried()
	case errors.As(err, &number):
		f = failed(where, Unreachable, number.Error()).retried()
	case errors.As(err, &name):
		f = failed(where, Unreachable, "the server's name cannot be resolved").retried()
	case closed(err), errors.As(err, &network), errors.As(err, &notConnected):
		f = failed(where, Unreachable, "the connection is closed without an answer").retried()
	default:
		f = failed(where, WrongType, "the answer is not HTTP")
	}
	if errors.As(err, &notConnected) {
		f.unconnected = true
		if f.kind == Timeout {
			f.last = "no connection in time"
		}
	}
	return f
}

// interrupted reports why an answer was not read to its end.
func interrupted(where string, err error) *failure {
	var network *net.OpError
	switch {
	case timedOut(err):
		return failed(where, Timeout, "no complete answer in time").retried()
	case closed(err), errors.As(err, &network):
		return failed(where, Truncated, "the connection is closed in the middle of the answer").retried()
	}
	return failed(where, WrongType, "the answer is not HTTP")
}

func timedOut(err error) bool {
	var bound interface{ Timeout() bool }
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &bound) && bound.Timeout()
}

func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed)
}
