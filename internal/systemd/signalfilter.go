package systemd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
)

// signalFilter is a connection that passes only the signals that this package uses. systemd sends every change of every
// unit over its socket, and decoding all of them would take an agent at boot longer than its work.
type signalFilter struct {
	net.Conn
	in   *bufio.Reader
	left int64 // of the message or line that is being read
}

func newSignalFilter(conn net.Conn) *signalFilter {
	return &signalFilter{Conn: conn, in: bufio.NewReaderSize(conn, 16<<10)}
}

// The beginning of a message (D-Bus specification, "Message Format"): byte order, type, flags, version, the length of
// its body, its serial number, and the length of its header fields, which are padded to eight bytes.
const (
	fixedHeader = 16
	signalType  = 4
)

// Read implements [io.Reader].
func (h *signalFilter) Read(data []byte) (int, error) {
	for h.left == 0 {
		header, err := h.in.Peek(1)
		if err != nil {
			return 0, err
		}
		order, isMessage := byteOrders[header[0]]
		if !isMessage { // a line of the greeting, or a part of one
			line, _ := h.in.Peek(h.in.Buffered())
			h.left = int64(len(line))
			if end := bytes.IndexByte(line, '\n'); end >= 0 {
				h.left = int64(end) + 1
			}
			break
		}
		if header, err = h.in.Peek(fixedHeader); err != nil {
			return h.in.Read(data) // the available data
		}
		body, fields := int64(order.Uint32(header[4:])), int64(order.Uint32(header[12:]))
		h.left = fixedHeader + (fields+7)&^7 + body
		if header[1] != signalType || fields > int64(h.in.Size()-fixedHeader) {
			break
		}
		if header, err = h.in.Peek(fixedHeader + int(fields)); err != nil || bytes.Contains(header, []byte(jobRemoved)) {
			break
		}
		for h.left > 0 {
			n, err := h.in.Discard(int(min(h.left, int64(h.in.Size()))))
			h.left -= int64(n)
			if err != nil {
				return 0, err
			}
		}
	}
	if int64(len(data)) > h.left {
		data = data[:h.left]
	}
	n, err := h.in.Read(data)
	h.left -= int64(n)
	return n, err
}

// byteOrders are the letters that name a byte order. No line of a greeting begins with one of them.
var byteOrders = map[byte]binary.ByteOrder{'l': binary.LittleEndian, 'B': binary.BigEndian}
