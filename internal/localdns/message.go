package localdns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// recordType is the type of a record (RFC 1035, 3.2.2; RFC 3596).
type recordType uint16

const (
	typeA    recordType = 1
	typeAAAA recordType = 28
)

// The codes of an answer (RFC 1035, 4.1.1).
const (
	codeSuccess = 0
	codeNoName  = 3
)

const (
	headerBytes = 12
	// answerBytes is what an answer may have that comes by UDP, so that it is in no fragment (RFC 6891, 6.2.5; DNS flag
	// day 2020).
	answerBytes = 1232
	// maxAddresses bounds how many addresses of a name are kept.
	maxAddresses = 32
)

// query is a question for the addresses of a name (RFC 1035, 4.1; the last record: RFC 6891, 6.1.2). Its ID, the first
// two bytes, is for whoever sends it. nil is for a name that is none.
func query(name string, kind recordType) []byte {
	message := make([]byte, headerBytes, headerBytes+len(name)+32)
	message[2] = 1  // recursion is desired
	message[5] = 1  // one question
	message[11] = 1 // one additional record
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 {
			return nil
		}
		message = append(message, byte(len(label)))
		message = append(message, label...)
	}
	message = append(message, 0)
	if len(message) > headerBytes+255 {
		return nil
	}
	message = binary.BigEndian.AppendUint16(message, uint16(kind))
	message = append(message, 0, 1) // class IN
	return append(message, 0, 0, 41, answerBytes>>8, answerBytes&0xff, 0, 0, 0, 0, 0, 0)
}

// answer is what there is to know of an answer.
type answer struct {
	code      int
	addresses []string
}

var errShort = errors.New("the answer ends too early")

// parseAnswer reads the answer to a question. Its addresses are of the type that was asked for: of the name, or of the
// name that this one stands for.
func parseAnswer(asked, message []byte, kind recordType) (answer, error) {
	if len(message) < headerBytes {
		return answer{}, errShort
	}
	if message[2]&0x80 == 0 {
		return answer{}, errors.New("the answer is a question")
	}
	got := answer{code: int(message[3] & 0x0f)}
	rest := message[headerBytes:]
	// The question comes back as it was, but perhaps in other case.
	question := asked[headerBytes : len(asked)-11]
	if questions := binary.BigEndian.Uint16(message[4:]); questions != 1 || len(rest) < len(question) ||
		!strings.EqualFold(string(rest[:len(question)]), string(question)) {
		return answer{}, errors.New("the answer is to another question")
	}
	rest = rest[len(question):]
	for range binary.BigEndian.Uint16(message[6:]) {
		record, after, err := nextRecord(rest)
		if err != nil {
			if message[2]&0x02 != 0 { // it was cut; what is there is good
				break
			}
			return answer{}, err
		}
		rest = after
		address, ok := netip.AddrFromSlice(record.data)
		if record.kind == kind && ok && address.Is4() == (kind == typeA) && len(got.addresses) < maxAddresses {
			got.addresses = append(got.addresses, address.String())
		}
	}
	return got, nil
}

type record struct {
	kind recordType
	data []byte
}

// nextRecord reads the record at the beginning of a message's rest (RFC 1035, 4.1.3).
func nextRecord(rest []byte) (record, []byte, error) {
	for {
		if len(rest) == 0 {
			return record{}, nil, errShort
		}
		n := int(rest[0])
		switch {
		case n == 0:
			rest = rest[1:]
		case n&0xc0 == 0xc0: // a pointer to a name, which ends this one
			if len(rest) < 2 {
				return record{}, nil, errShort
			}
			rest = rest[2:]
		case n > 63:
			return record{}, nil, fmt.Errorf("the answer has a label of type %#x", n&0xc0)
		case len(rest) <= n:
			return record{}, nil, errShort
		default:
			rest = rest[n+1:]
			continue
		}
		break
	}
	const fixed = 10 // type, class, time to live, length
	if len(rest) < fixed {
		return record{}, nil, errShort
	}
	length := int(binary.BigEndian.Uint16(rest[8:]))
	if len(rest) < fixed+length {
		return record{}, nil, errShort
	}
	r := record{recordType(binary.BigEndian.Uint16(rest)), rest[fixed : fixed+length]}
	if binary.BigEndian.Uint16(rest[2:]) != 1 { // of another class
		r.kind = 0
	}
	return r, rest[fixed+length:], nil
}
