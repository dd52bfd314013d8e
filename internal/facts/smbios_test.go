package facts

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// structure is one structure of an SMBIOS table: what comes after its header, and its strings.
func structure(kind byte, body []byte, texts ...string) []byte {
	s := append([]byte{kind, byte(4 + len(body)), 0, kind}, body...)
	if len(texts) == 0 {
		return append(s, 0, 0)
	}
	for _, text := range texts {
		s = append(append(s, text...), 0)
	}
	return append(s, 0)
}

func oem(texts ...string) []byte { return structure(11, []byte{byte(len(texts))}, texts...) }

// others are structures that every machine's table has.
var others = slices.Concat(
	structure(0, make([]byte, 20), "SeaBIOS", "1.16.2", "04/01/2014"),
	structure(1, bytes.Repeat([]byte{1}, 23), "QEMU", "Standard PC (Q35 + ICH9, 2009)"),
	structure(32, make([]byte, 7)),
)

var endOfTable = structure(127, nil)

func TestOEMStrings(t *testing.T) {
	many := slices.Repeat([]string{"x"}, 255)
	for _, c := range []struct {
		name  string
		table []byte
		want  []string
	}{
		{"no table", nil, nil},
		{"none", slices.Concat(others, endOfTable), nil},
		{"one", slices.Concat(others, oem("a=b"), endOfTable), []string{"a=b"}},
		{"the first of all", slices.Concat(oem("a"), others), []string{"a"}},
		{"several structures", slices.Concat(oem("a", "b"), others, oem("c"), endOfTable), []string{"a", "b", "c"}},
		{"without an end of the table", oem("a"), []string{"a"}},
		{"after the end of the table", slices.Concat(endOfTable, oem("a")), nil},
		{"a structure without strings", slices.Concat(structure(11, []byte{0}), oem("a")), []string{"a"}},
		{"fewer counted than there are", slices.Concat(structure(11, []byte{1}, "a", "b"), oem("c")), []string{"a", "c"}},
		{"more counted than there are", slices.Concat(structure(11, []byte{9}, "a"), oem("c")), []string{"a", "c"}},
		{"counted and none there", slices.Concat(structure(11, []byte{1}), oem("c")), []string{"c"}},
		{"no count", slices.Concat(structure(11, nil, "a"), oem("c")), []string{"c"}},
		{"of a later version, with more in it", structure(11, []byte{1, 7, 7, 7}, "a"), []string{"a"}},
		{"a length shorter than its header", slices.Concat(oem("a"), []byte{11, 3, 0, 0, 1, 'x', 0, 0}, oem("b")), []string{"a"}},
		{"a length beyond the table", slices.Concat(oem("a"), []byte{11, 255, 0, 0, 1, 'x', 0, 0}), []string{"a"}},
		{"half a header", slices.Concat(oem("a"), []byte{11, 5}), []string{"a"}},
		{"strings without an end", slices.Concat(oem("a"), []byte{11, 5, 0, 0, 1, 'x'}), []string{"a"}},
		{"bytes that are no text", oem("a\xff\x01"), []string{"a\xff\x01"}},
		{"the most of one structure", oem(many...), many},
		{"more than are taken", bytes.Repeat(oem(many[:100]...), 20), slices.Repeat([]string{"x"}, 4*255)},
	} {
		if got := OEMStrings(c.table); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Strings beyond the limit are not read.
func TestOEMStringsOfLargeTable(t *testing.T) {
	large := oem(strings.Repeat("x", MaxSMBIOSTable-100))
	if got := OEMStrings(slices.Concat(large, oem("a"))); len(got) != 2 {
		t.Errorf("%d strings", len(got))
	}
	if got := OEMStrings(slices.Concat(large, others, oem("a"))); len(got) != 1 {
		t.Errorf("%d strings", len(got))
	}
}

func TestCredential(t *testing.T) {
	const name = "slipway.contract"
	text := func(value string) string { return "io.systemd.credential:" + name + "=" + value }
	binary := func(value string) string { return "io.systemd.credential.binary:" + name + "=" + value }
	whole := string(bytes.Repeat([]byte{0, 255, 10}, 5000))
	for _, c := range []struct {
		oem   []string
		value string
		found bool
		err   error
	}{
		{nil, "", false, nil},
		{[]string{"vendor", "io.systemd.credential:other=x", "io.systemd.credential:" + name}, "", false, nil},
		{[]string{text("x=y")}, "x=y", true, nil},
		{[]string{text("")}, "", true, nil},
		{[]string{binary(base64.StdEncoding.EncodeToString([]byte(whole)))}, whole, true, nil},
		{[]string{binary("")}, "", true, nil},
		{[]string{text("1"), text("2"), binary("Mw==")}, "1", true, nil},
		{[]string{binary("Mw=="), text("1")}, "3", true, nil},
		{[]string{text("1"), binary("?")}, "1", true, nil},
		{[]string{"io.systemd.credential:" + name + "2=x", text("1")}, "1", true, nil},
		{[]string{"IO.systemd.credential:" + name + "=x"}, "", false, nil},
		{[]string{binary("hunter2?")}, "", true, ErrCredential},
		{[]string{binary("Mw")}, "", true, ErrCredential},
		{[]string{binary("hunter2?"), text("1")}, "", true, ErrCredential},
	} {
		value, found, err := Credential(c.oem, name)
		if string(value) != c.value || found != c.found || !errors.Is(err, c.err) {
			t.Errorf("%.80q: got %.20q, %v, %v", c.oem, value, found, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error holds the value: %v", err)
		}
	}
}

// FuzzOEMStrings: whatever the firmware holds, the strings are parts of it, and use no more memory than a few times its
// size.
func FuzzOEMStrings(f *testing.F) {
	f.Add(slices.Concat(others, oem("a", "io.systemd.credential.binary:slipway.contract=Mw=="), endOfTable))
	f.Add(bytes.Repeat([]byte{11, 5, 0, 0, 255, 'x', 0, 0}, 500))
	f.Add(bytes.Repeat([]byte{11, 4, 0, 0, 0, 0}, 500))
	f.Add([]byte{11, 0, 0, 0})
	f.Fuzz(func(t *testing.T, table []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		strings := OEMStrings(table)
		_, _, _ = Credential(strings, "slipway.contract")
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<10+8*uint64(len(table)) {
			t.Fatalf("%d bytes of memory for %d", taken, len(table))
		}
		total := 0
		for _, text := range strings {
			total += len(text) + 1
			if text == "" || !bytes.Contains(table, append([]byte(text), 0)) {
				t.Fatalf("%q is no string of it", text)
			}
		}
		if total > len(table) || len(strings) > 4*255 {
			t.Fatalf("%d strings of %d bytes from %d", len(strings), total, len(table))
		}
	})
}
