package grpc

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/slipway-dev/slipway/internal/redact"
)

// Statuses of a call that are told from others (gRPC: status codes).
const (
	ok = 0
	// Unimplemented is the status of a method that the server does not have.
	Unimplemented = 12
)

// prefixSize is what a message begins with: whether it is compressed, and how long it is (gRPC over HTTP/2).
const prefixSize = 5

// appendMessage appends a message with its prefix.
func appendMessage(dst, message []byte) []byte {
	dst = append(dst, 0)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(message))), message...)
}

// maxShown bounds what is shown of a server's words.
const maxShown = 512

// StatusError is a gRPC status other than OK.
type StatusError struct {
	Method, Message string
	Code            int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s returned gRPC status %d: %s", e.Method, e.Code, e.Message)
}

// answer is what has come of an answer.
type answer struct {
	// http is the HTTP status, empty until there are headers. kind is the content type.
	http, kind string
	// status and message are gRPC's. An answer without a message has them in its headers, else they are in its trailers.
	status, message string
	body            []byte
	ended           bool
}

// say takes a block of headers over.
func (a *answer) say(fields []hpack.HeaderField) {
	for _, f := range fields {
		switch f.Name {
		case ":status":
			a.http = f.Value
		case "content-type":
			a.kind = f.Value
		case "grpc-status":
			a.status = f.Value
		case "grpc-message":
			a.message = f.Value
		}
	}
}

// add takes data over. An answer that is too large is one without an end: nobody waits for its status.
func (a *answer) add(data []byte, flags byte) {
	room := maxMessage + prefixSize - len(a.body)
	a.body = append(a.body, data[:min(len(data), room)]...)
	a.ended = flags&flagEndStream != 0 || len(data) > room
}

// result is the message of an answer that has ended, or what is wrong with it.
func (a *answer) result(method string) ([]byte, error) {
	if a.http != "200" || !strings.HasPrefix(a.kind, "application/grpc") {
		return nil, fmt.Errorf("is not a gRPC server: HTTP status %s", redact.Line(a.http, maxShown))
	}
	code, err := strconv.Atoi(a.status)
	if err != nil {
		return nil, fmt.Errorf("the answer to %s has no gRPC status", method)
	}
	if code != ok {
		text, err := url.PathUnescape(a.message)
		if err != nil {
			text = a.message
		}
		return nil, &StatusError{method, redact.Line(text, maxShown), code}
	}
	body := a.body
	if len(body) < prefixSize || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:prefixSize])) != uint64(len(body)-prefixSize) {
		return nil, fmt.Errorf("the answer to %s is damaged", method)
	}
	return body[prefixSize:], nil
}
