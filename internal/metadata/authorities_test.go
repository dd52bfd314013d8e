package metadata_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// someAuthorities are certificates, made once.
var someAuthorities = sync.OnceValue(func() []string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	var all []string
	for i := range 3 {
		template := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: fmt.Sprint("authority ", i)}, IsCA: true, BasicConstraintsValid: true}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			panic(err)
		}
		all = append(all, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	return all
})

func sorted(texts ...string) []string { return slices.Sorted(slices.Values(texts)) }

// listing is an instance with certificates, by file name.
func listing(optedIn bool, all ...fakecloud.Authority) fakecloud.Instance {
	return fakecloud.Instance{ID: "container", Name: "instance", OptedIn: optedIn, Authorities: all}
}

// The wire server's certificates are those of its region's kind, each once and in a fixed order.
func TestAuthorities(t *testing.T) {
	a, b, c := someAuthorities()[0], someAuthorities()[1], someAuthorities()[2]
	files := []fakecloud.Authority{{Name: "root.crt", PEM: a}, {Name: "b & c.crt", PEM: "\r\n" + strings.ReplaceAll(c+b, "\n", "\r\n")}, {Name: "again.crt", PEM: a}}
	everyKind := []string{"/acms/isOptedInForRootCerts", "/machine", "/machine", "/machine", "/machine", "/machine"}
	for _, test := range []struct {
		region   string
		instance fakecloud.Instance
		want     []string
		asked    []string
	}{
		{"eastus", listing(true, files...), sorted(a, b, c), everyKind},
		{"", listing(true, files...), sorted(a, b, c), everyKind},
		{"eastus", listing(false, files...), nil, everyKind[:1]},
		{"USSec West", listing(false, files...), sorted(a, b, c), []string{"/machine"}},
		{"usnateast", listing(false, files[0]), []string{a}, []string{"/machine"}},
	} {
		cloud := fakecloud.New(test.instance)
		got, err := wire(t, cloud.WireServer()).Authorities(t.Context(), test.region)
		if err != nil || !slices.Equal(got.Certificates, test.want) || len(got.Refused) > 0 || got.Unanswered {
			t.Errorf("%q, opted in: %t: %+v, %v", test.region, test.instance.OptedIn, got, err)
		}
		var asked []string
		for _, r := range cloud.Requests() {
			asked = append(asked, r.Path)
		}
		if !slices.Equal(asked, test.asked) {
			t.Errorf("%q, opted in: %t: %q", test.region, test.instance.OptedIn, asked)
		}
	}
}

// A file that is not a certificate, or has a path as its name, is left out; the others count.
func TestInvalidAuthorities(t *testing.T) {
	good, key := someAuthorities()[0], "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	for _, bad := range []fakecloud.Authority{
		{Name: "../../etc/passwd.crt", PEM: good},
		{Name: `..\evil.crt`, PEM: good},
		{Name: "..", PEM: good},
		{Name: "", PEM: good},
		{Name: "a\nb.crt", PEM: good},
		{Name: strings.Repeat("n", 300) + ".crt", PEM: good},
		{Name: "text.crt", PEM: "<html>no</html>"},
		{Name: "key.crt", PEM: key},
		{Name: "with-key.crt", PEM: good + key},
		{Name: "cut.crt", PEM: good + someAuthorities()[1][:100]},
		{Name: "empty.crt", PEM: ""},
		{Name: "der.crt", PEM: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
	} {
		for _, region := range []string{"eastus", "ussecwest"} {
			cloud := fakecloud.New(listing(true, bad, fakecloud.Authority{Name: "good.crt", PEM: good}))
			got, err := wire(t, cloud.WireServer()).Authorities(t.Context(), region)
			want := []string{fmt.Sprintf("%.80q", bad.Name)}
			if err != nil || !slices.Equal(got.Certificates, []string{good}) || !slices.Equal(got.Refused, want) {
				t.Errorf("%s, %q: %+v, %v", region, bad.Name, got, err)
			}
			for _, r := range cloud.Requests() {
				if strings.Contains(r.Query, "passwd") || strings.Contains(r.Query, "evil") {
					t.Errorf("%s: %s is asked for", region, r.Query)
				}
			}
		}
	}
}

// If a machine should get certificates and gets none, the request is unanswered. The same is true if it gets more than
// the limit.
func TestAuthoritiesAreBounded(t *testing.T) {
	many := slices.Repeat([]fakecloud.Authority{{Name: "a.crt", PEM: someAuthorities()[0]}}, 65)
	long := slices.Repeat([]fakecloud.Authority{{Name: "a.crt", PEM: someAuthorities()[0] + strings.Repeat(" ", 15<<10)}}, 20)
	for _, region := range []string{"eastus", "ussecwest"} {
		for _, c := range []struct {
			instance fakecloud.Instance
			kind     metadata.Kind
		}{
			{listing(true), metadata.WrongType},
			{listing(true, many...), metadata.TooLarge},
			{listing(true, long...), metadata.TooLarge},
		} {
			got, err := wire(t, fakecloud.New(c.instance).WireServer()).Authorities(t.Context(), region)
			var failed *metadata.Error
			if !errors.As(err, &failed) || failed.Kind != c.kind || len(got.Certificates) > 64 {
				t.Errorf("%s, %d files: %v", region, len(c.instance.Authorities), err)
			}
		}
	}
}

func TestAuthoritiesFaults(t *testing.T) {
	a, b := someAuthorities()[0], someAuthorities()[1]
	for _, c := range []struct {
		fault string
		kind  metadata.Kind
		want  []string
		after time.Duration
	}{
		{"status=403*3", "", sorted(a, b), 700 * time.Millisecond},
		{"status=404*1", "", sorted(a, b), 100 * time.Millisecond},
		{"busy=2s*1", "", sorted(a, b), 2 * time.Second},
		{"truncated*1", "", sorted(a, b), 100 * time.Millisecond},
		{"blackhole*1", "", sorted(a, b), 2100 * time.Millisecond},
		{"down=1s", "", sorted(a, b), 1500 * time.Millisecond},
		{"blackhole", metadata.Timeout, nil, atTheEnd},
		{"down=1h", metadata.Unreachable, nil, atTheEnd},
		{"status=503", metadata.Status, nil, atTheEnd},
		{"status=400", metadata.Status, nil, 0},
		{"redirect=http://192.0.2.1/", metadata.Redirect, nil, 0},
		{"type=text/html", metadata.WrongType, nil, 0},
		{"garbage", metadata.WrongType, nil, 0},
		{"large=1MB", metadata.TooLarge, nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			cloud := fakecloud.New(listing(true, fakecloud.Authority{Name: "a.crt", PEM: a}, fakecloud.Authority{Name: "b.crt", PEM: b}))
			server := wire(t, cloud.WireServer())
			misbehave(t, cloud, c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			begin := time.Now()
			got, err := server.Authorities(ctx, "eastus")
			if took, want := time.Since(begin), min(c.after, within); took != want {
				t.Errorf("%s: it took %s, want %s", c.fault, took, want)
			}
			var failed *metadata.Error
			if errors.As(err, &failed); (failed == nil) != (c.kind == "") || failed != nil && failed.Kind != c.kind {
				t.Errorf("%s: %v, want %s", c.fault, err, c.kind)
			}
			if !slices.Equal(got.Certificates, c.want) {
				t.Errorf("%s: %q", c.fault, got.Certificates)
			}
		})
	}
}

// A missing file does not prevent the others, but is reported.
func TestAuthoritiesInPart(t *testing.T) {
	a, b := someAuthorities()[0], someAuthorities()[1]
	cloud := fakecloud.New(listing(true, fakecloud.Authority{Name: "a.crt", PEM: a}, fakecloud.Authority{Name: "b.crt", PEM: b}))
	server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("type") == "a" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		cloud.WireServer().ServeHTTP(w, r)
	}))
	if got, err := server.Authorities(t.Context(), "eastus"); err == nil || !slices.Equal(got.Certificates, []string{b}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzAuthorities: whatever the wire server answers, the result has only certificates, and not too many.
func FuzzAuthorities(f *testing.F) {
	whole, err := json.Marshal(map[string]any{"Certificates": []map[string]string{{"Name": "a.crt", "CertBody": someAuthorities()[0]}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"IsOptedInForRootCerts": true, "OperationsInfo": [{"ResouceFileName": "a.crt"}, {"ResourceFileName": "../b"}]}`))
	f.Add([]byte(someAuthorities()[0] + someAuthorities()[1]))
	f.Fuzz(func(t *testing.T, data []byte) {
		server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if kind := r.URL.Query().Get("type"); strings.ContainsAny(kind, `/\`) || kind == ".." {
				t.Errorf("%q is asked for", kind)
			}
			_, _ = w.Write(data)
		}))
		for _, region := range []string{"eastus", "ussecwest"} {
			var got facts.Authorities
			frugally(t, func() { got, _ = server.Authorities(t.Context(), region) })
			for _, text := range got.Certificates {
				block, rest := pem.Decode([]byte(text))
				if block == nil || len(rest) > 0 {
					t.Fatalf("%q is taken for a certificate", text)
				}
				if _, err := x509.ParseCertificate(block.Bytes); err != nil {
					t.Fatal(err)
				}
			}
			if len(got.Certificates)+len(got.Refused) > 64 {
				t.Fatalf("%d certificates, %d refused", len(got.Certificates), len(got.Refused))
			}
		}
	})
}
