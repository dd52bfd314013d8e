// Package grpc asks a server on a Unix socket: calls of one message and one answer, which is all that is asked of a container runtime
// (gRPC over HTTP/2; RFC 9113). The HTTP/2 of net/http would do the same, and is a third of a megabyte of the agent with nobody else
// to use it.
//
// The package refuses streams, compression, TLS, and messages of more than 16 KiB. internal/cri calls it.
package grpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2/hpack"
)

// maxMessage bounds a message. An answer has some hundred bytes, and a request that has a token some thousand. A server may send 64 KiB before it has to wait for more room (RFC 9113,
// 6.9.2), so a connection has room for several without a word about it.
const maxMessage = 16<<10 - prefixSize

// Conn is a connection to a server. It makes one call after the other.
type Conn struct {
	conn    net.Conn
	reader  *bufio.Reader
	decoder *hpack.Decoder
	// stream is the number of the last call's, next that of the next one's: a client's are odd (RFC 9113, 5.1.1).
	stream, next uint32
}

// preface is what a client begins with (RFC 9113, 3.4), and its settings: the server pushes nothing.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Dial connects to the socket at a path.
func Dial(ctx context.Context, socket string) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	c := newConn(conn)
	defer c.within(ctx)()
	if _, err := conn.Write(appendFrame([]byte(preface), frameSettings, 0, 0, []byte{0, settingEnablePush, 0, 0, 0, 0})); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func newConn(conn net.Conn) *Conn {
	decoder := hpack.NewDecoder(4096, nil) // the size that is agreed on without a word (RFC 9113, 6.5.2)
	decoder.SetMaxStringLength(maxMessage)
	return &Conn{conn: conn, reader: bufio.NewReader(conn), decoder: decoder, next: 1}
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// within has reads and writes fail when a context ends, until the function that it returns is called.
func (c *Conn) within(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// Call makes a call with a message, and returns the answer's. Its error is a *StatusError where the server has
// refused, and the context's where that has ended. After another error the connection is of no more use.
func (c *Conn) Call(ctx context.Context, method string, message []byte) ([]byte, error) {
	if len(message) > maxMessage {
		return nil, fmt.Errorf("%s: the message has %d bytes, and at most %d are sent", method, len(message), maxMessage)
	}
	defer c.within(ctx)()
	c.stream, c.next = c.next, c.next+2
	request := appendFrame(nil, frameHeaders, flagEndHeaders, c.stream, requestHeaders(method))
	request = appendFrame(request, frameData, flagEndStream, c.stream, appendMessage(nil, message))
	_, err := c.conn.Write(request)
	var a answer
	if err == nil {
		err = c.read(&a)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("does not answer: %w", err)
	}
	return a.result(method)
}

// requestHeaders are those of a call, each as a literal that nobody remembers (RFC 7541, 6.2.2).
func requestHeaders(method string) []byte {
	var block []byte
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "localhost"},
		{"content-type", "application/grpc"}, {"te", "trailers"}, {"user-agent", "slipway-node"},
	} {
		block = append(block, 0)
		for _, text := range field {
			block = append(append(block, byte(len(text))), text...) // all are shorter than 127 bytes (RFC 7541, 5.1)
		}
	}
	return block
}

// read reads frames until an answer is whole.
func (c *Conn) read(a *answer) error {
	for !a.ended {
		f, err := readFrame(c.reader)
		if err != nil {
			return err
		}
		if err := c.take(f, a); err != nil {
			return err
		}
	}
	return nil
}

// take does what a frame asks for. Those of kinds that nobody knows are passed over (RFC 9113, 4.1).
func (c *Conn) take(f frame, a *answer) error {
	switch f.kind {
	case frameSettings, framePing:
		if f.flags&flagAck != 0 {
			return nil
		}
		said := f.payload
		if f.kind == frameSettings {
			said = nil
		}
		c.conn.Write(appendFrame(nil, f.kind, flagAck, 0, said)) // a connection that has ended shows that at the next read
		return nil
	case frameGoAway:
		return errors.New("the server ends the connection")
	case framePushPromise, frameContinuation:
		return errors.New("is not a gRPC server: it sends what nobody has asked for")
	case frameReset:
		if f.stream == c.stream {
			return errors.New("the server breaks the call off")
		}
	case frameHeaders:
		return c.headers(f, a)
	case frameData:
		data, err := f.unpadded(0)
		if err != nil {
			return err
		}
		if f.stream == c.stream {
			a.add(data, f.flags)
		}
	}
	return nil
}

// headers reads a block of headers, which can go on in further frames (RFC 9113, 6.10). Also that of another stream is decoded: all
// share one table (RFC 7541, 2.2).
func (c *Conn) headers(f frame, a *answer) error {
	priority := 0
	if f.flags&flagPriority != 0 {
		priority = prioritySize
	}
	block, err := f.unpadded(priority)
	if err != nil {
		return err
	}
	for last := f.flags; last&flagEndHeaders == 0; {
		next, err := readFrame(c.reader)
		switch {
		case err != nil:
			return err
		case next.kind != frameContinuation || next.stream != f.stream:
			return errors.New("is not a gRPC server: its headers have no end")
		case len(block)+len(next.payload) > maxMessage:
			return errors.New("is not a gRPC server: its headers are too large")
		}
		block, last = append(block, next.payload...), next.flags
	}
	fields, err := c.decoder.DecodeFull(block)
	if err != nil {
		return fmt.Errorf("is not a gRPC server: %w", err)
	}
	if f.stream == c.stream {
		a.say(fields)
		a.ended = f.flags&flagEndStream != 0
	}
	return nil
}

// readFrame reads one frame.
func readFrame(r io.Reader) (frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f, size := parseHead(head)
	if size > maxFrame {
		return frame{}, errors.New("is not a gRPC server: it does not speak HTTP/2")
	}
	f.payload = make([]byte, size)
	_, err := io.ReadFull(r, f.payload)
	return f, err
}
