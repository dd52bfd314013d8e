package cri

import (
	"encoding/binary"
	"errors"
)

// errDamaged means that an answer is no message.
var errDamaged = errors.New("the answer is damaged")

// field is a field of a message (Protocol Buffers: encoding): bytes are its text or message, and value is its number.
type field struct {
	number uint64
	value  uint64
	bytes  []byte
}

// The wire types. All others are obsolete.
const (
	varint          = 0
	fixed64         = 1
	lengthDelimited = 2 // a text or a message
	fixed32         = 5
)

// maxText limits a text of the runtime.
const maxText = 4 << 10

func (f field) text() string { return string(f.bytes[:min(len(f.bytes), maxText)]) }

// fields calls each for each field of a message.
func fields(message []byte, each func(field) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return errDamaged
		}
		message = message[n:]
		f := field{number: tag >> 3}
		size := uint64(0)
		switch tag & 7 {
		case varint:
			if f.value, n = binary.Uvarint(message); n <= 0 {
				return errDamaged
			}
			size = uint64(n)
		case fixed64:
			size = 8
		case fixed32:
			size = 4
		case lengthDelimited:
			if size, n = binary.Uvarint(message); n <= 0 {
				return errDamaged
			}
			message = message[n:]
		default:
			return errDamaged
		}
		if size > uint64(len(message)) {
			return errDamaged
		}
		if tag&7 == lengthDelimited {
			f.bytes = message[:size]
		}
		message = message[size:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}
