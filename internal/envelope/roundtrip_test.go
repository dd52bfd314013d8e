package envelope_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/test/detector"
	"github.com/slipway-dev/slipway/userdata"
)

// randomContract is a contract of random fields, in one of the forms of contracts.
func randomContract(r *rand.Rand) []byte {
	var b strings.Builder
	values := make([]string, 2+r.IntN(40))
	for i := range values {
		values[i] = fmt.Sprintf("v%x é, -- <<'EOF' %s", r.Uint64(), strings.Repeat("=_", r.IntN(20)))
	}
	switch r.IntN(3) {
	case 0:
		b.WriteString("apiVersion: slipway.dev/v1\nkind: NodeConfig\n")
		for i, v := range values {
			fmt.Fprintf(&b, "f%d: %q\n", i, v)
		}
	case 1:
		end := pick(r, "", "\n")
		fmt.Fprintf(&b, "{%s\"version\": \"v1\"", end)
		for i, v := range values {
			fmt.Fprintf(&b, ",%s  \"f%d\": %q", end, i, v)
		}
		b.WriteString("}" + end)
	case 2:
		b.WriteString(pick(r, "\xef\xbb\xbf", "", "\n") + "# a comment\r\n---\r\nversion: v1\r\n")
		for i, v := range values {
			fmt.Fprintf(&b, "f%d: %q\r\n", i, v)
		}
	}
	return []byte(b.String())
}

// TestOpenUndoesWrappings: any contract in any stack of wrappings is returned unchanged, with the path that the
// innermost wrapping with a path wrote it at.
func TestOpenUndoesWrappings(t *testing.T) {
	detector.Skip(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		document := randomContract(r)
		data, path := document, ""
		var stack []string
		for range r.IntN(5) {
			w := pick(r, wrappers...)
			var place string
			data, place = w.wrap(r, data)
			stack = append([]string{w.name}, stack...)
			if path == "" {
				path = place
			}
		}
		got, err := envelope.Open(data, places)
		if err != nil {
			t.Fatalf("%v: %v\n%.2000q", stack, err, data)
		}
		if !bytes.Equal(got.Data, document) || got.Path != path || !slices.Equal(got.Wrapping, stack) {
			t.Fatalf("got %v\nwant %s for %q in %v\n%.2000q", got, document, path, stack, data)
		}
	}
}

// TestOpenUndoesRendering: everything that userdata renders can be opened.
func TestOpenUndoesRendering(t *testing.T) {
	text := func(render func(userdata.Contract) (string, error)) func(userdata.Contract) ([]byte, error) {
		return func(c userdata.Contract) ([]byte, error) {
			s, err := render(c)
			return []byte(s), err
		}
	}
	for _, form := range []struct {
		name   string
		render func(userdata.Contract) ([]byte, error)
		want   []string
	}{
		{"MIME", userdata.MIME, []string{"mime", "boothook"}},
		{"CustomData", text(userdata.CustomData), []string{"base64", "mime", "boothook"}},
		{"CloudConfig", userdata.CloudConfig, []string{"cloud-config"}},
		{"Ignition", userdata.Ignition, []string{"ignition"}},
		{"IgnitionCustomData", text(userdata.IgnitionCustomData), []string{"base64", "ignition"}},
	} {
		for _, e := range examples(t) {
			contract := userdata.Contract{Document: e.document, Path: e.path}
			if e.path == userdata.AKSPath {
				contract.Features = map[string]string{"A": "1"}
			}
			data, err := form.render(contract)
			if err != nil {
				t.Fatal(err)
			}
			got, err := envelope.Open(data, places)
			if err != nil || !bytes.Equal(got.Data, e.document) || got.Path != e.path || !slices.Equal(got.Wrapping, form.want) {
				t.Errorf("%s of %s: got %v, %v", form.name, e.name, got, err)
			}
		}
	}
}

// TestTruncated: custom data that is cut anywhere is refused, or still has the whole contract.
func TestTruncated(t *testing.T) {
	detector.Skip(t)
	for _, e := range examples(t) {
		contract := userdata.Contract{Document: e.document, Path: e.path}
		for name, render := range map[string]func(userdata.Contract) ([]byte, error){
			"MIME": userdata.MIME, "CloudConfig": userdata.CloudConfig, "Ignition": userdata.Ignition,
			"CustomData": func(c userdata.Contract) ([]byte, error) { s, err := userdata.CustomData(c); return []byte(s), err },
			"gzip":       func(c userdata.Contract) ([]byte, error) { data, err := userdata.MIME(c); return gzipped(data), err },
			"zstd":       func(c userdata.Contract) ([]byte, error) { data, err := userdata.MIME(c); return zstandard(data), err },
		} {
			if name != "MIME" && e.name != "minimal.json" {
				continue
			}
			data, err := render(contract)
			if err != nil {
				t.Fatal(err)
			}
			for n := range data {
				got, err := envelope.Open(data[:n:n], places)
				if err == nil && !bytes.Equal(got.Data, e.document) {
					t.Fatalf("%s of %s, cut after %d of %d bytes: got %v", name, e.name, n, len(data), got)
				}
				if err != nil {
					checkTyped(t, err)
				}
			}
		}
	}
}
