package grpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
)

// block encodes headers as a server may: with its table, and Huffman's code.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

func frames(all ...[]byte) string { return string(bytes.Join(all, nil)) }

var (
	settings = appendFrame(nil, frameSettings, 0, 0, []byte{0, 3, 0, 0, 0, 100})
	begin    = appendFrame(nil, frameHeaders, flagEndHeaders, 1, block(":status", "200", "content-type", "application/grpc"))
	message  = appendFrame(nil, frameData, 0, 1, []byte{0, 0, 0, 0, 2, 8, 1})
	end      = appendFrame(nil, frameHeaders, flagEndHeaders|flagEndStream, 1, block("grpc-status", "0"))
)

// hangsUp is the end of what a server says that closes its connection after that.
const hangsUp = "(hangs up)"

// calls makes one call to a server that says this, and returns what the server heard.
func calls(t testing.TB, said string) (answer []byte, heard string, err error) {
	t.Helper()
	client, server := net.Pipe()
	c := newConn(client)
	done := make(chan string, 1)
	go func() {
		all := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(server)
			all <- string(data)
		}()
		said, gone := strings.CutSuffix(said, hangsUp)
		io.WriteString(server, said)
		if gone {
			server.Close()
		}
		done <- <-all
	}()
	answer, err = c.Call(t.Context(), "/x.Y/Z", nil)
	c.Close()
	return answer, <-done, err
}

func TestAnswers(t *testing.T) {
	whole := block(":status", "200", "content-type", "application/grpc+proto", "grpc-status", "12", "grpc-message", "no%20method")
	for name, test := range map[string]struct{ said, want, wrong string }{
		"plain":        {said: frames(settings, begin, message, end), want: "\x08\x01"},
		"not asked":    {said: frames(settings, appendFrame(nil, 0x77, 0, 9, []byte("x")), appendFrame(nil, 0x8, 0, 0, []byte{0, 0, 1, 0}), begin, message, end), want: "\x08\x01"},
		"another call": {said: frames(begin, appendFrame(nil, frameData, flagEndStream, 5, []byte("x")), appendFrame(nil, frameReset, 0, 7, make([]byte, 4)), message, end), want: "\x08\x01"},
		"filled up": {said: frames(
			appendFrame(nil, frameHeaders, flagEndHeaders|flagPadded|flagPriority, 1, append(append([]byte{3, 0, 0, 0, 0, 9}, block(":status", "200", "content-type", "application/grpc")...), 0, 0, 0)),
			appendFrame(nil, frameData, flagPadded, 1, []byte{2, 0, 0, 0, 0, 0, 0, 0}), end), want: ""},
		"in pieces": {said: frames(appendFrame(nil, frameHeaders, 0, 1, whole[:3]), appendFrame(nil, frameContinuation, 0, 1, whole[3:9]),
			appendFrame(nil, frameContinuation, flagEndHeaders, 1, whole[9:]), appendFrame(nil, frameData, flagEndStream, 1, nil)), wrong: "/x.Y/Z returned gRPC status 12: no method"},
		"headers alone":       {said: frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagEndStream, 1, whole)), wrong: "status 12: no method"},
		"two messages":        {said: frames(begin, message, message, end), wrong: "is damaged"},
		"no headers":          {said: frames(appendFrame(nil, frameData, flagEndStream, 1, nil)), wrong: "is not a gRPC server: HTTP status"},
		"another status":      {said: frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagEndStream, 1, block(":status", "404"))), wrong: "is not a gRPC server: HTTP status 404"},
		"broken off":          {said: frames(begin, appendFrame(nil, frameReset, 0, 1, make([]byte, 4))), wrong: "breaks the call off"},
		"ended":               {said: frames(appendFrame(nil, frameGoAway, 0, 0, make([]byte, 8))), wrong: "ends the connection"},
		"pushed":              {said: frames(appendFrame(nil, framePushPromise, 0, 1, make([]byte, 8))), wrong: "nobody has asked for"},
		"a loose end":         {said: frames(appendFrame(nil, frameContinuation, 0, 1, nil)), wrong: "nobody has asked for"},
		"headers without end": {said: frames(appendFrame(nil, frameHeaders, 0, 1, nil), settings), wrong: "have no end"},
		"headers in another call": {said: frames(appendFrame(nil, frameHeaders, 0, 1, nil), appendFrame(nil, frameContinuation, flagEndHeaders, 3, nil)),
			wrong: "have no end"},
		"large headers": {said: frames(appendFrame(nil, frameHeaders, 0, 1, make([]byte, maxFrame)), appendFrame(nil, frameContinuation, 0, 1, make([]byte, 1))),
			wrong: "too large"},
		"bad headers":     {said: frames(appendFrame(nil, frameHeaders, flagEndHeaders, 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})), wrong: "is not a gRPC server"},
		"a large text":    {said: frames(appendFrame(nil, frameHeaders, flagEndHeaders, 1, append([]byte{0x00, 0x01, 'x', 0x7f}, 0x81, 0xff, 0x7f))), wrong: "is not a gRPC server"},
		"too much filled": {said: frames(begin, appendFrame(nil, frameData, flagPadded, 1, []byte{9, 0})), wrong: "a frame is damaged"},
		"nothing filled":  {said: frames(begin, appendFrame(nil, frameData, flagPadded, 1, nil)), wrong: "a frame is damaged"},
		"a large frame":   {said: "\x00\x40\x01\x00\x00\x00\x00\x00\x01", wrong: "does not speak HTTP/2"},
		"HTTP/1.1":        {said: "HTTP/1.1 400 Bad Request\r\n\r\n", wrong: "does not speak HTTP/2"},
		"half a frame":    {said: frames(begin)[:12] + hangsUp, wrong: "unexpected EOF"},
		"nothing":         {said: hangsUp, wrong: "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, heard, err := calls(t, test.said)
			switch {
			case test.wrong == "" && (err != nil || string(answer) != test.want):
				t.Errorf("%q, %v, want %q", answer, err, test.want)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
				t.Errorf("%q, %v, want %q", answer, err, test.wrong)
			}
			if strings.HasPrefix(test.said, string(settings)) && !strings.Contains(heard, string(appendFrame(nil, frameSettings, flagAck, 0, nil))) {
				t.Errorf("the settings are not acknowledged: %q", heard)
			}
		})
	}
}

// TestPing: a server that wants to know whether somebody is there is answered with its own words.
func TestPing(t *testing.T) {
	ping := appendFrame(nil, framePing, 0, 0, []byte("12345678"))
	_, heard, err := calls(t, frames(ping, appendFrame(nil, framePing, flagAck, 0, []byte("87654321")), begin, message, end))
	if err != nil || !strings.HasSuffix(heard, string(appendFrame(nil, framePing, flagAck, 0, []byte("12345678")))) {
		t.Errorf("%v, %q", err, heard)
	}
}

// TestGivenUp: a call ends with its context, whatever the server does, and a socket that nobody listens at is an error at once.
func TestGivenUp(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		conn.Read(make([]byte, 1))
		cancel()
	}()
	c, err := Dial(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(ctx, "/x.Y/Z", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	listener.Close()
	if _, err := Dial(t.Context(), socket); err == nil {
		t.Error("a connection to nobody")
	}
}

// FuzzAnswers: whatever a server says, a call ends, and its answer is no larger than it may be.
func FuzzAnswers(f *testing.F) {
	f.Add(frames(settings, begin, message, end))
	f.Add("HTTP/1.1 400 Bad Request\r\n\r\n")
	f.Fuzz(func(t *testing.T, said string) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		go func() {
			io.WriteString(server, said)
			server.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := newConn(client)
		defer c.Close()
		answer, err := c.Call(ctx, "/x.Y/Z", nil)
		if ctx.Err() != nil || len(answer) > maxMessage || err != nil && len(err.Error()) > 4*maxShown {
			t.Errorf("%d bytes, %v", len(answer), err)
		}
	})
}
