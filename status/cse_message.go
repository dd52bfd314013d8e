package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxCSEMessage bounds a message of the extension. Azure keeps 4,096 bytes of what was printed, twice, and words around them.
const maxCSEMessage = 64 << 10

// maxObjects is how many places of a message are tried, where an object could begin. A result is the only one, or nearly so.
const maxObjects = 100

// ErrNoResult says that a message has neither a result nor an exit code.
var ErrNoResult = errors.New("the message has no result of a provisioning")

// ParseCSEMessage reads what Azure's custom script extension returns: a sentence, "[stdout]" with what the command printed,
// and "[stderr]". Of several results the last one counts. Of a result whose end was cut off, what is whole counts. Where the
// command ended with another code than the result says, or no result has one, the code that the extension names is the
// ExitCode: a failure is never read as a success. The error wraps [ErrNoResult].
func ParseCSEMessage(message string) (CSEStatus, error) {
	if len(message) > maxCSEMessage {
		return CSEStatus{}, fmt.Errorf("%w: it has %d bytes; the limit is %d", ErrNoResult, len(message), maxCSEMessage)
	}
	s, found := lastResult(message)
	if code, named := extensionCode(message); named {
		if own, err := s.Code(); !found || err != nil || own == 0 {
			s.ExitCode, found = code, true
		}
	}
	if !found {
		return CSEStatus{}, ErrNoResult
	}
	return s, nil
}

// lastResult is the last object of a message that says an exit code.
func lastResult(message string) (last CSEStatus, found bool) {
	for tries := 0; tries < maxObjects; tries++ {
		begin := objectStart(message)
		if begin < 0 {
			break
		}
		message = message[begin:]
		var object json.RawMessage
		d := json.NewDecoder(strings.NewReader(message))
		err := d.Decode(&object)
		cut := errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err == nil:
			message = message[d.InputOffset():]
		case cut:
			object, message = json.RawMessage(message), ""
		default: // it only looked like an object
			message = message[1:]
			continue
		}
		var s CSEStatus
		if err := s.fill(object); err != nil && !cut {
			continue
		}
		if s.ExitCode != "" {
			last, found = s, true
		}
	}
	return last, found
}

// objectStart is where the next text begins that could be an object with a key; -1 for nowhere. A brace in a text of a result
// is followed by an escaped quote, and does not count.
func objectStart(message string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(message[at:], '{')
		if i < 0 {
			return -1
		}
		at += i
		if strings.HasPrefix(strings.TrimLeft(message[at+1:], " \t\r\n"), `"`) {
			return at
		}
	}
}

// extensionCode is the code in the extension's sentence (github.com/Azure/custom-script-extension-linux: "command terminated
// with exit status=50"). What the command printed comes after it, and is not looked at.
func extensionCode(message string) (string, bool) {
	sentence, _, _ := strings.Cut(message, "[stdout]")
	_, rest, named := strings.Cut(sentence, "exit status=")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	code, err := strconv.ParseUint(rest, 10, 8)
	return strconv.FormatUint(code, 10), named && err == nil
}
