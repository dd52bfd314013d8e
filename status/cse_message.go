package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxCSEMessage limits a message of the extension. Azure keeps 4,096 bytes of each of the two outputs, and adds text around them.
const maxCSEMessage = 64 << 10

// maxObjects limits the positions in a message that are tried as the beginning of an object. A result is usually the only object.
const maxObjects = 100

// ErrNoResult: the message has neither a result nor an exit code.
var ErrNoResult = errors.New("the message has no result of a provisioning")

// ParseCSEMessage parses the message of Azure's custom script extension: a sentence, "[stdout]" with the command's output, and
// "[stderr]". Of several results the last one counts. If a result's end was cut off, its complete fields count. If the extension
// names another exit code than the result, or there is no result with a code, the extension's code is the ExitCode: a failure is
// never read as a success. The error wraps [ErrNoResult].
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

// lastResult returns the last object in a message that has an exit code.
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

// objectStart returns the position of the next text that could be an object with a key, or -1. A brace within a result's string is
// followed by an escaped quote, and does not count.
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

// extensionCode returns the code in the extension's sentence (github.com/Azure/custom-script-extension-linux: "command terminated
// with exit status=50"). The command's output comes after it, and is not searched.
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
