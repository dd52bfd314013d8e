package envelope_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

// composed is a MIME document of parts, written by Go's library; every second part is in base64.
func composed(t testing.TB, parts []envelope.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fmt.Fprintf(&b, "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=%q\r\n\r\n", w.Boundary())
	for i, p := range parts {
		h := textproto.MIMEHeader{"Content-Type": {p.Type}}
		if p.Name != "" {
			h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", p.Name))
		}
		content := p.Content
		if i%2 == 1 {
			h.Set("Content-Transfer-Encoding", "base64")
			content = []byte(base64.StdEncoding.EncodeToString(content))
		}
		part, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTakeApart: the parts of a document are restored, also those of a nested document.
func TestTakeApart(t *testing.T) {
	inner := []envelope.Part{{Type: "text/plain", Content: []byte("inner\n")}}
	parts := []envelope.Part{
		{Type: "text/x-shellscript", Name: "a.sh", Content: []byte("#!/bin/sh\necho a\n")}, {Type: "text/cloud-config", Content: []byte("#cloud-config\r\na: b")},
		{Type: "application/x-other", Name: "b", Content: []byte{}},
	}
	document := composed(t, parts)
	if got, err := envelope.TakeApart(document); err != nil || !reflect.DeepEqual(got, parts) || !envelope.IsMIME(document) {
		t.Errorf("%+v, %v", got, err)
	}
	head, body, _ := strings.Cut(string(composed(t, inner)), "\r\n\r\n")
	_, contentType, _ := strings.Cut(head, "Content-Type: ")
	nested := composed(t, []envelope.Part{parts[0]})
	nested = bytes.Replace(nested, []byte("Content-Type: text/x-shellscript"), []byte("Content-Type: "+contentType), 1)
	nested = bytes.Replace(nested, []byte("#!/bin/sh\necho a\n"), []byte(body), 1)
	if got, err := envelope.TakeApart(nested); err != nil || !reflect.DeepEqual(got, inner) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", "MIME-Version: 1.0\n", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nx", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx",
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: other\n\nx\n--b--\n",
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n" + strings.Repeat("\n--b\n\nx", 101) + "\n--b--\n",
	} {
		_, err := envelope.TakeApart([]byte(bad))
		_, broken := errors.AsType[*envelope.BrokenError](err)
		_, beyond := errors.AsType[*envelope.LimitError](err)
		if !broken && !beyond {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}

// FuzzTakeApart: any input gives parts within the limits or a typed error. Documents of Go's library are read back.
func FuzzTakeApart(f *testing.F) {
	f.Add([]byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n"))
	f.Add([]byte("#!/bin/sh\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := envelope.TakeApart(data)
		if err != nil {
			_, broken := errors.AsType[*envelope.BrokenError](err)
			_, beyond := errors.AsType[*envelope.LimitError](err)
			if !broken && !beyond {
				t.Error(err)
			}
		}
		total := 0
		for _, p := range parts {
			total += len(p.Content)
		}
		if total > len(data) {
			t.Errorf("%d bytes became %d", len(data), total)
		}
		want := []envelope.Part{{Type: "text/plain", Content: []byte("first")}, {Type: "text/plain", Name: "n", Content: data}}
		if len(data) > 1<<16 {
			return
		}
		if len(data) == 0 {
			want[1].Content = []byte{}
		}
		if got, err := envelope.TakeApart(composed(t, want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q, %v", got, err)
		}
	})
}
