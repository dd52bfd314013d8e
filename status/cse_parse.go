package status

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-dev/slipway/internal/state"
)

// ParseCSE reads a result that Slipway or an AKS script wrote. Keys match in any case, unknown ones
// are passed over, and of two that match the later counts; a value that is no string is kept as its
// JSON text, null as nothing. Only what is not one JSON object is an error: whether the result says
// an exit code is [CSEStatus.Code]'s to tell.
func ParseCSE(data []byte) (CSEStatus, error) {
	var s CSEStatus
	if int64(len(data)) > state.Result.Limit {
		return s, fmt.Errorf("the result has %d bytes; the limit is %d", len(data), state.Result.Limit)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return s, errors.New("the result is empty")
	}
	if err := s.fill(data); err != nil {
		return CSEStatus{}, fmt.Errorf("the result is not one JSON object: %w", err)
	}
	return s, nil
}

// fill takes what an object says.
func (s *CSEStatus) fill(object []byte) error {
	fields, boot := s.fields(), s.BootDatapoints.fields()
	return eachKey(bytes.TrimSpace(object), func(key string, value json.RawMessage) {
		if strings.EqualFold(key, "BootDatapoints") {
			// Where this is something else than an object, it says nothing that is needed.
			_ = eachKey(value, func(key string, value json.RawMessage) { set(boot, key, value) })
			return
		}
		set(fields, key, value)
	})
}

func set(fields []cseField, key string, value json.RawMessage) {
	for _, f := range fields {
		if strings.EqualFold(key, f.key) {
			*f.value = text(value)
		}
	}
}

// text returns a JSON string's content, and of any other value the JSON itself.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil { // null leaves s empty
		return s
	}
	return valid(string(value))
}

// eachKey calls f for the members of the JSON object that data is, in their order.
func eachKey(data []byte, f func(key string, value json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return whole(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("it starts with %v", open)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return whole(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return whole(err)
		}
		f(key.(string), value) // the decoder allows nothing else as a key
	}
	if _, err := d.Token(); err != nil {
		return whole(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after its end")
	}
	return nil
}

// whole names the end of the data for what it is within an object.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
