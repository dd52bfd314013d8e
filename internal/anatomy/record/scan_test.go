package record

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzScanObject compares the scanner with encoding/json: in what both accept, they find the same texts.
func FuzzScanObject(f *testing.F) {
	for _, line := range []string{
		`{}`, `{"a":"b"}`, ` { "a" : "b" , "c" : null } `, `{"a":[72,105,255],"b":["x","y"],"c":{"d":[1]},"e":-1.5e3,"f":true}`,
		`{"a":"\u00e9\n\"\\"}`, `{"a":"b"`, `{"a":}`, `{"a":"b",}`, `{"a":"b"}x`, `{"a":[}`, `{a:1}`, "{\"a\":\"\x01\"}", `{"a":[],"b":[[1],2]}`, `{"a":1 }`, `{"":""}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got := make(map[string]string)
		if err := scanObject(line, func(name []byte, value rawText) { got[string(name)] = string(value.plain()) }); err != nil {
			return
		}
		var want map[string]any
		if json.Unmarshal(line, &want) != nil {
			return // it checks less
		}
		for name, value := range want {
			text, isText := value.(string)
			if isText && bytes.IndexByte(line, '\\') < 0 && string(bytes.ToValidUTF8([]byte(got[name]), []byte("\uFFFD"))) != text && got[name] != text {
				t.Errorf("%q: %q is %q, want %q", line, name, got[name], text)
			}
		}
	})
}
