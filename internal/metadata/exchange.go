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
	// MaxUserData limits user data. Azure has at most 64 KiB, EC2 16 KiB; a seed can be larger.
	MaxUserData = 1 << 20
	// maxEncoded is the same limit in base64, with white space and line ends.
	maxEncoded = MaxUserData/3*4 + MaxUserData/32
	// maxInstance limits a description of the machine. On Azure it includes custom tags and the user data.
	maxInstance = 512 << 10
	maxHostname = 4 << 10
	// maxToken limits a token, which has some fifty bytes.
	maxToken = 4 << 10
	// maxGoalState limits the wire server's document, and its answer to a report.
	maxGoalState = 64 << 10
	maxHeader    = 64 << 10
)

// policy has the statuses after which a request is repeated, in addition to server errors (5xx).
type policy struct {
	again []int
	// settle is how long a 404 is tried again.
	settle time.Duration
}

// question is one request.
type question struct {
	method, url string
	header      map[string]string
	body        string
	// limit is the limit of the answer's body.
	limit int
	// refused are media types of answers that are not the service's.
	refused []string
	policy  policy
}

// answer is a complete answer: a success, or 304 to a conditional request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange sends a request.
func exchange(ctx context.Context, client *http.Client, q question) (answer, *failure) {
	request, err := http.NewRequestWithContext(ctx, q.method, q.url, strings.NewReader(q.body))
	if err != nil {
		// The error quotes the URL, which may have a password.
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

// redacted is a URL without its password, or a placeholder if it cannot be parsed.
func redacted(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "the URL"
	}
	return parsed.Redacted()
}

// statuses are the statuses with a special kind; all others have the kind Status.
var statuses = map[int]Kind{
	http.StatusUnauthorized: Denied, // EC2: the token is not valid
	http.StatusForbidden:    Denied, // EC2: the service is turned off
	http.StatusNotFound:     NotFound,
}

// judge returns the failure of an answer, before its body is read.
func judge(where string, response *http.Response, q question) *failure {
	status := response.StatusCode
	if status == http.StatusNotModified && q.header[ifNoneMatch] != "" {
		return nil
	}
	// A document must be complete; a report may also be answered with 201 or 204.
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

// judgeType refuses documents of other types. If a service sends no type, or an invalid one, judgeType accepts it.
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

// RetryAfter is the pause that a service requests (RFC 9110, section 10.2.3), or 0. A date is relative to the answer's
// clock if it has one, because the machine's may be wrong until it is set.
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

// unanswered is the failure of a request without answer. It does not repeat the error, which can quote data that came
// instead of an answer.
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

// interrupted is the failure of an incomplete answer.
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
