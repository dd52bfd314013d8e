package envelope_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

// checkOpen checks the properties of all user data: one of the four errors, or a contract with one of the places or
// none, which is not a wrapping any more; and limited memory.
func checkOpen(t *testing.T, data []byte) {
	t.Helper()
	got, allocated, err := measured(data)
	if allocated > maxAllocated+1<<20 { // the fuzzer itself also allocates
		t.Fatalf("allocated %d KiB", allocated>>10)
	}
	if err != nil {
		checkTyped(t, err)
		if len(err.Error()) > 64<<10 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
		return
	}
	if len(got.Data) == 0 || len(got.Data) > 1<<20 || len(got.Wrapping) > 8 || got.Path != "" && !slices.Contains(places, got.Path) {
		t.Fatalf("got %v", got)
	}
	if is := envelope.IsUserData(data); is != (len(got.Wrapping) > 0) {
		t.Fatalf("user data: %v, got %v", is, got)
	}
	again, err := envelope.Open(got.Data, places)
	if err == nil && (!bytes.Equal(again.Data, got.Data) || len(again.Wrapping) > 0) || err != nil && outcome(err) != "none" {
		t.Fatalf("opened again: got %v, %v, of %v", again, err, got)
	}
}

func FuzzOpen(f *testing.F) {
	for _, c := range opened {
		f.Add(c.data)
	}
	for _, c := range cases {
		if len(c.data) < 4<<10 {
			f.Add(c.data)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, w := range wrappers {
		data, _ := w.wrap(r, []byte(aksContract))
		f.Add(data)
	}
	f.Fuzz(checkOpen)
}

// FuzzMIME: a part with a contract is found beside any other part, if neither has the boundary.
func FuzzMIME(f *testing.F) {
	f.Add("X: y", "image/png", []byte("--b \n--b-- \n"))
	f.Add("Content-Transfer-Encoding: base64\n folded", "multipart/mixed; boundary=bc", []byte("\n--bc--\r\n"))
	message := func(fields, contentType string, beside []byte) []byte {
		data := []byte("MIME-Version: 1.0\n" + fields + "\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: " + contentType + "\n\n")
		return append(append(data, beside...), "\n--b\nContent-Type: text/x-slipway-config\n\n"+yamlContract+"\n--b--\n"...)
	}
	f.Fuzz(func(t *testing.T, fields, contentType string, beside []byte) {
		checkOpen(t, message(fields, contentType, beside))
		if bytes.Contains(beside, []byte("--b")) || len(beside) > 1<<19 {
			return
		}
		if got, err := envelope.Open(message("X: y", "x-other/type", beside), places); err != nil || string(got.Data) != yamlContract {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}

// FuzzCloudConfig: any YAML that names a place is read within limits. A rendered cloud-config has the same contract
// with comments after it.
func FuzzCloudConfig(f *testing.F) {
	for _, c := range append(cases[:len(cases):len(cases)], malformed{data: with("content: 'a: b'\n  append: on\n  encoding: gz+b64")}) {
		if yaml, found := bytes.CutPrefix(c.data, []byte("#cloud-config\n")); found && len(yaml) < 4<<10 {
			f.Add(yaml)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkOpen(t, bare(string(text)))
		checkOpen(t, with(string(text)))

		document := append([]byte("version: "), text...)
		data, err := userdata.CloudConfig(userdata.Contract{Document: document, Path: userdata.NativePath})
		if err != nil {
			t.Fatal(err)
		}
		got, err := envelope.Open(data, places)
		if err == nil && (!bytes.Equal(got.Data, document) || got.Path != userdata.NativePath) {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}

// FuzzDecompress: compressed data is restored; damaged data gives no more output than the limit.
func FuzzDecompress(f *testing.F) {
	for _, wrap := range []func([]byte) []byte{gzipped, zstandard} {
		f.Add(wrap([]byte(yamlContract)), uint16(0), byte(0))
		f.Add(wrap([]byte(yamlContract+fill("#\n", 20<<10))), uint16(9), byte(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, change byte) {
		for _, magic := range []string{"\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd"} {
			checkOpen(t, append([]byte(magic), data...))
		}
		document := append([]byte("{\"x\":1}\n"), bytes.Repeat([]byte(" "), len(data))...)
		for _, wrap := range []func([]byte) []byte{gzipped, zstandard} {
			compressed := wrap(document)
			if got, err := envelope.Open(compressed, places); err != nil || !bytes.Equal(got.Data, document) {
				t.Fatalf("got %v, %v", got, err)
			}
			compressed[int(at)%len(compressed)] ^= change
			checkOpen(t, compressed)
		}
	})
}
