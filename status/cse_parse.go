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

// ParseCSE parses a result that Slipway or an AKS script wrote. Keys match in any case, unknown
// ones are ignored, and of two that match the later one counts. A value that is not a string
// becomes its JSON text, and null becomes empty. The only error is data that is not one JSON
// object; [CSEStatus.Code] checks the exit code.
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

// fill sets the fields in an object.
func (s *CSEStatus) fill(object []byte) error {
	fields, boot := s.fields(), s.BootDatapoints.fields()
	return eachKey(bytes.TrimSpace(object), func(key string, value json.RawMessage) {
		if strings.EqualFold(key, "BootDatapoints") {
			// If it is not an object, it has nothing that is needed.
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

// text returns a JSON string's content, or the JSON text of any other value.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil { // null leaves s empty
		return s
	}
	return valid(string(value))
}

// eachKey calls f for the members of a JSON object, in their order.
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
		f(key.(string), value) // the decoder allows only a string as a key
	}
	if _, err := d.Token(); err != nil {
		return whole(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after its end")
	}
	return nil
}

// whole replaces the error for the end of the data within an object.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
