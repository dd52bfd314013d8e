package dnsanswer

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// fuzzed is the name of the fuzzed question.
const fuzzed = "a.example"

// A query is what a resolver would send (RFC 1035, 4.1): compared with the bytes of one.
func TestQuery(t *testing.T) {
	want := "\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01" + "\x01a\x07example\x00" + "\x00\x1c\x00\x01" +
		"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"
	for _, name := range []string{"a.example", "a.example."} {
		if got := string(Query(name, dnsmessage.TypeAAAA)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, name := range []string{"", ".", "a..b", strings.Repeat("a", 64), strings.Repeat("a.", 150) + "b"} {
		if Query(name, dnsmessage.TypeA) != nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

// An upstream server's answer, with a name that is an alias, and unrelated records.
func TestParseAnswer(t *testing.T) {
	head := func(flags, answers string) string {
		return "\x12\x34" + flags + "\x00\x01\x00" + answers + "\x00\x00\x00\x00" + "\x01a\x07EXAMPLE\x00\x00\x01\x00\x01"
	}
	const (
		alias   = "\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x04\x01b\xc0\x0e"
		address = "\x01b\xc0\x0e\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x01"
		six     = "\xc0\x0c\x00\x1c\x00\x01\x00\x00\x00\x3c\x00\x10\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
		chaos   = "\xc0\x0c\x00\x01\x00\x03\x00\x00\x00\x3c\x00\x04\x01\x01\x01\x01"
		long    = "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x05\x01\x01\x01\x01\x01"
	)
	for name, c := range map[string]struct {
		message string
		want    []string
		code    dnsmessage.RCode
		fails   string
	}{
		"an alias and its address": {head("\x81\x80", "\x05") + alias + address + six + chaos + long, []string{"192.0.2.1"}, 0, ""},
		"nothing":                  {head("\x81\x83", "\x00"), nil, 3, ""},
		"a failure":                {head("\x81\x82", "\x00"), nil, 2, ""},
		"cut":                      {head("\x83\x80", "\x02") + address + "\x01b", []string{"192.0.2.1"}, 0, ""},
		"too short":                {head("\x81\x80", "\x02") + address + "\x01b", nil, 0, "cannot be read"},
		"no header":                {"\x12\x34\x81", nil, 0, "cannot be read"},
		"a question":               {head("\x01\x00", "\x00"), nil, 0, "is a question"},
		"another question":         {strings.Replace(head("\x81\x80", "\x00"), "EX", "EY", 1), nil, 0, "another question"},
		"a label of no type":       {head("\x81\x80", "\x01") + "\x80", nil, 0, "cannot be read"},
	} {
		got, err := Parse("A.example", dnsmessage.TypeA, []byte(c.message))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil || got.Code != c.code || !slices.Equal(got.Addresses, c.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// FuzzParseAnswer: whatever a server sends, it is read within limits, and every address has the requested type.
func FuzzParseAnswer(f *testing.F) {
	types := []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
	for _, kind := range types {
		asked := Query(fuzzed, kind)
		question := asked[12 : len(asked)-11] // without the header and the size
		head := "\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + string(question)
		f.Add([]byte(head+"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x01"), uint16(kind))
		f.Add([]byte(head), uint16(kind))
		f.Add(asked, uint16(kind))
	}
	f.Fuzz(func(t *testing.T, message []byte, number uint16) {
		kind := types[number%2]
		got, err := Parse(fuzzed, kind, message)
		if err != nil && len(got.Addresses) > 0 {
			t.Error("an answer that cannot be read has addresses")
		}
		if len(got.Addresses) > maxAddresses || slices.ContainsFunc(got.Addresses, func(a string) bool { return netip.MustParseAddr(a).Is4() != (kind == dnsmessage.TypeA) }) {
			t.Errorf("got %v", got.Addresses)
		}
	})
}
