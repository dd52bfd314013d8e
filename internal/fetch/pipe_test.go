package fetch_test

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeRoom is how much unread data a connection holds, as a kernel's buffer does. With net.Pipe, which holds nothing,
// both sides of a TLS connection wait for each other when it is closed.
const pipeRoom = 256 << 10

// newPipe returns the two ends of a connection in memory.
func newPipe() (net.Conn, net.Conn) {
	a, b := newStream(), newStream()
	return &end{in: a, out: b}, &end{in: b, out: a}
}

// end is one end of a connection.
type end struct{ in, out *stream }

func (e *end) Read(p []byte) (int, error)         { return e.in.read(p) }
func (e *end) Write(p []byte) (int, error)        { return e.out.write(p) }
func (e *end) LocalAddr() net.Addr                { return memory }
func (e *end) RemoteAddr() net.Addr               { return memory }
func (e *end) SetReadDeadline(t time.Time) error  { return e.in.setDeadline(&e.in.readBy, t) }
func (e *end) SetWriteDeadline(t time.Time) error { return e.out.setDeadline(&e.out.writeBy, t) }

func (e *end) SetDeadline(t time.Time) error {
	_ = e.SetReadDeadline(t)
	return e.SetWriteDeadline(t)
}

// Close ends both directions. What was written can still be read.
func (e *end) Close() error {
	e.in.close(&e.in.readerGone)
	e.out.close(&e.out.writerGone)
	return nil
}

// memory is the address of every end in memory.
var memory = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}

// stream is one direction.
type stream struct {
	mu                     sync.Mutex
	changed                *sync.Cond
	data                   []byte
	readerGone, writerGone bool
	readBy, writeBy        time.Time
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerGone:
			return 0, net.ErrClosed
		case over(s.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.changed.Broadcast()
			return n, nil
		case s.writerGone:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for written < len(p) {
		switch room := pipeRoom - len(s.data); {
		case s.writerGone, s.readerGone:
			return written, net.ErrClosed
		case over(s.writeBy):
			return written, os.ErrDeadlineExceeded
		case room > 0:
			n := min(room, len(p)-written)
			s.data = append(s.data, p[written:written+n]...)
			written += n
			s.changed.Broadcast()
			continue
		}
		s.changed.Wait()
	}
	return written, nil
}

func over(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (s *stream) setDeadline(of *time.Time, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*of = t
	s.changed.Broadcast()
	if !t.IsZero() {
		time.AfterFunc(time.Until(t), s.changed.Broadcast)
	}
	return nil
}

func (s *stream) close(gone *bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*gone = true
	s.changed.Broadcast()
}
