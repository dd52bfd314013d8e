package grpc

import (
	"encoding/binary"
	"errors"
)

// Frames, their flags, and the sizes of their parts (RFC 9113, 4.1 and 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	frameHead    = 9
	maxFrame     = 16 << 10 // more needs a setting that this client does not make
	prioritySize = 5

	settingEnablePush = 0x2
)

// frame is one frame.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// appendFrame appends a frame.
func appendFrame(dst []byte, kind, flags byte, stream uint32, payload []byte) []byte {
	size := len(payload)
	dst = append(dst, byte(size>>16), byte(size>>8), byte(size), kind, flags)
	return append(binary.BigEndian.AppendUint32(dst, stream), payload...)
}

// parseHead reads what a frame begins with, and returns how long its payload is.
func parseHead(head [frameHead]byte) (frame, int) {
	size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	return frame{kind: head[3], flags: head[4], stream: binary.BigEndian.Uint32(head[5:]) &^ (1 << 31)}, size
}

// unpadded is a frame's payload without what it is filled up with, and without so many bytes that come before it.
func (f frame) unpadded(before int) ([]byte, error) {
	payload, padding := f.payload, 0
	if f.flags&flagPadded != 0 {
		if len(payload) == 0 {
			return nil, errors.New("is not a gRPC server: a frame is damaged")
		}
		payload, padding = payload[1:], int(payload[0])
	}
	if before+padding > len(payload) {
		return nil, errors.New("is not a gRPC server: a frame is damaged")
	}
	return payload[before : len(payload)-padding], nil
}
