package tlsbootstrap

import (
	"reflect"
	"strings"
	"testing"
)

const csrPrefix = `{"kind":"CertificateSigningRequest","metadata":{"name":"n"},"status":`

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Answer
		err  string
	}{
		"new":      {csrPrefix + `{}}`, Answer{Name: "n"}, ""},
		"approved": {csrPrefix + `{"conditions":[{"type":"Approved"}]}}`, Answer{Name: "n", Approved: true}, ""},
		"issued": {csrPrefix + `{"conditions":[{"type":"Approved"}],"certificate":"eA=="}}`,
			Answer{Name: "n", Approved: true, Certificate: []byte("x")}, ""},
		"denied":              {csrPrefix + `{"conditions":[{"type":"Denied","reason":"R","message":"why"}]}}`, Answer{Name: "n", Refused: "was denied: R: why"}, ""},
		"denied, without why": {csrPrefix + `{"conditions":[{"type":"Denied"}]}}`, Answer{Name: "n", Refused: "was denied"}, ""},
		"failed": {csrPrefix + `{"conditions":[{"type":"Approved"},{"type":"Failed","message":"why"}]}}`,
			Answer{Name: "n", Approved: true, Refused: "was approved, and the signer failed: why", Failed: true}, ""},
		"denied after it was issued": {csrPrefix + `{"conditions":[{"type":"Denied"}],"certificate":"eA=="}}`, Answer{Name: "n", Refused: "was denied"}, ""},
		"an unknown condition":       {csrPrefix + `{"conditions":[{"type":"Other"}]}}`, Answer{Name: "n"}, ""},
		"another kind":               {`{"kind":"Status","message":"x"}`, Answer{}, `is a "Status"`},
		"no JSON":                    {`x`, Answer{}, "is not a certificate signing request"},
		"no base64":                  {csrPrefix + `{"certificate":"?"}}`, Answer{}, "is not a certificate signing request"},
		"nothing":                    {``, Answer{}, "is not a certificate signing request"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// Whatever a server sends: a refused request has no certificate, and an unreadable one has no state.
func FuzzRead(f *testing.F) {
	for _, status := range []string{`{}}`, `{"conditions":[{"type":"Denied","reason":"R"}],"certificate":"eA=="}}`, `{"conditions":[{"type":"Approved"}],"certificate":"eA=="}}`} {
		f.Add([]byte(csrPrefix + status))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(data)
		if err != nil && !reflect.DeepEqual(a, Answer{}) {
			t.Errorf("an error, and %+v", a)
		}
		if a.Refused != "" && a.Certificate != nil || a.Failed && a.Refused == "" {
			t.Errorf("refused, and issued, or failed without a word: %+v", a)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := []byte(csrPrefix + `{"conditions":[{"type":"Approved"}],"certificate":"` + strings.Repeat("eHh4", 400) + `"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(data); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzNewest: whatever a server sends is a list with a request of the node, or refused.
func FuzzNewest(f *testing.F) {
	f.Add([]byte(`{"kind":"CertificateSigningRequestList","items":[{"metadata":{"name":"a","creationTimestamp":"2026-11-28T12:00:00Z"},"spec":{"signerName":"kubernetes.io/kube-apiserver-client-kubelet","request":"LS0="}}]}`))
	f.Add([]byte(`{"kind":"CertificateSigningRequestList","items":[{}]}`))
	f.Fuzz(func(t *testing.T, list []byte) {
		if r, err := Newest(list, "node1"); r != nil && err != nil {
			t.Errorf("got %v and %v", r, err)
		}
	})
}
