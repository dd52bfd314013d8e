package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// reference parses JSON token by token with encoding/json, which is slower and correct. It only knows columns of ASCII.
type reference struct {
	text  string
	dec   *json.Decoder
	nodes int
}

func (r *reference) place() (line, column int32) {
	offset := int(r.dec.InputOffset())
	for offset < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[offset]) >= 0 {
		offset++
	}
	before := r.text[:offset]
	return int32(strings.Count(before, "\n")) + 1, int32(offset-strings.LastIndexByte(before, '\n')-1) + 1
}

var errLimit = errors.New("a limit")

func (r *reference) value(depth int) (document.Node, error) {
	line, column := r.place()
	tok, err := r.dec.Token()
	if err != nil {
		return document.Node{}, err
	}
	n := document.Node{Line: line, Column: column}
	if r.nodes++; r.nodes > document.MaxNodes || depth > document.MaxDepth {
		return n, errLimit
	}
	switch t := tok.(type) {
	case nil:
		n.Kind = document.Null
	case bool:
		n.Kind, n.Text = document.Bool, fmt.Sprint(t)
	case json.Number:
		n.Kind, n.Text = document.Number, t.String()
	case string:
		n.Kind, n.Text = document.String, t
	case json.Delim:
		n.Kind = document.List
		if t == '{' {
			n.Kind = document.Map
		}
		seen := make(map[string]bool)
		for r.dec.More() {
			var name string
			if n.Kind == document.Map {
				line, column := r.place()
				tok, err := r.dec.Token()
				if err != nil {
					return n, err
				}
				if name = tok.(string); seen[name] {
					return n, fmt.Errorf("json, line %d column %d: duplicate field %q", line, column, name)
				}
				seen[name] = true
			}
			value, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			if n.Kind == document.Map {
				n.Fields = append(n.Fields, document.Field{Name: name, Value: value})
			} else {
				n.Items = append(n.Items, value)
			}
		}
		_, err := r.dec.Token()
		return n, err
	}
	return n, nil
}

// sameAsReference compares the results for a text that begins with a brace.
func sameAsReference(t *testing.T, data []byte) {
	t.Helper()
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 || trimmed[0] != '{' || len(data) > document.MaxBytes {
		return
	}
	for _, c := range data {
		if c >= 0x80 {
			return
		}
	}
	r := &reference{text: string(data), dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	want, wrong := r.value(0)
	if wrong == nil {
		if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
			wrong = errors.New("there is text after the document's closing brace")
		}
	}
	got, err := document.Parse(data)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%q: got error %v, want %v", data, err, wrong)
	}
	_, isSyntax := errors.AsType[*json.SyntaxError](wrong)
	switch {
	case err == nil:
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("%q: got\n%+v\nwant\n%+v", data, *got, want)
		}
	case errors.Is(wrong, errLimit):
		if !errors.Is(err, document.ErrTooLarge) {
			t.Fatalf("%q: got error %v, want one of a limit", data, err)
		}
	case errors.Is(wrong, io.EOF) || errors.Is(wrong, io.ErrUnexpectedEOF):
		if !strings.Contains(err.Error(), "the document is cut off after") {
			t.Fatalf("%q: got error %v, want one of a document that is cut off", data, err)
		}
	case isSyntax:
		var raw json.RawMessage
		whole, _ := errors.AsType[*json.SyntaxError](json.Unmarshal(data, &raw))
		before := data[:whole.Offset-1]
		place := fmt.Sprintf("json, line %d column %d: ", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
		if err.Error() != place+whole.Error() {
			t.Fatalf("%q: got error %v, want %s%v", data, err, place, whole)
		}
	case !strings.Contains(err.Error(), wrong.Error()):
		t.Fatalf("%q: got error %v, want %v", data, err, wrong)
	}
}

// seeds are real documents, and documents with something of every kind.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	texts := [][]byte{
		[]byte(`{"a":[1,-2.5e+3,0,[],{},[[]],"x\n\"\\\/é😀\ud83d",true,false,null],"":{"b":"c"}}`),
		[]byte("{ \"a\" :\r\n\t[ 1 , 2 ]\n, \"b\" : { \"c\" : \"d\" } }\n"),
		[]byte(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"n":14,"o":15,"p":16,"q":17,"r":18,"q":19}`),
		[]byte(`{"a":` + strings.Repeat("[", document.MaxDepth) + strings.Repeat("]", document.MaxDepth) + `}`),
		[]byte(`{"a":` + strings.Repeat(`{"":`, document.MaxDepth-1) + `1` + strings.Repeat("}", document.MaxDepth-1) + `}`),
	}
	files, err := filepath.Glob("../../examples/aks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, data)
	}
	return texts
}

// TestReadsAsEncodingJSON changes bytes of documents, cuts them and repeats parts of them. The tree equals encoding/json's, with
// all positions, and so does every error.
func TestReadsAsEncodingJSON(t *testing.T) {
	const bytesOfJSON = "{}[]\",:0123456789-+.eE \t\r\n\\/utrflnsabd'x\x00\x1f"
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range seeds(t) {
		sameAsReference(t, text)
		for range 20_000 / (1 + len(text)/200) {
			changed := bytes.Clone(text)
			for range 1 + random.IntN(3) {
				at := random.IntN(max(len(changed), 1))
				if len(changed) == 0 {
					break
				}
				switch b := bytesOfJSON[random.IntN(len(bytesOfJSON))]; random.IntN(5) {
				case 0, 1:
					changed[at] = b
				case 2:
					changed = append(changed[:at], append([]byte{b}, changed[at:]...)...)
				case 3:
					changed = append(changed[:at:at], changed[min(at+1+random.IntN(8), len(changed)):]...)
				case 4:
					changed = changed[:max(at, 1)]
				}
			}
			sameAsReference(t, changed)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(sameAsReference)
}
