package ekstoken_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/ekstoken"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// serviceOf is EC2's metadata service, with the answers of a handler.
func serviceOf(t *testing.T, handler http.Handler) *metadata.Service {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	service, err := metadata.New(facts.EC2, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func instance(region string) *fakecloud.Cloud {
	return fakecloud.New(fakecloud.Instance{ID: "i-0123456789abcdef0", Region: region, Role: "node", Address: "10.0.0.5"})
}

// signedURL is the URL in a token.
func signedURL(t *testing.T, token ekstoken.Token) *url.URL {
	t.Helper()
	encoded, found := strings.CutPrefix(token.Value.Reveal(), "k8s-aws-v1.")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !found {
		t.Fatalf("the token is %q: %v", token.Value.Reveal(), err)
	}
	signed, err := url.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// send does what the cluster does with a token.
func send(cloud *fakecloud.Cloud, signed *url.URL, cluster string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, signed.String(), nil)
	r.Header.Set("x-k8s-aws-id", cluster)
	w := httptest.NewRecorder()
	cloud.STS().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// In each partition STS takes the token for the instance's role, and only for the cluster that it was made for.
func TestTokenShowsTheMachinesRole(t *testing.T) {
	for _, region := range []string{"us-east-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1"} {
		cloud := instance(region)
		for _, r := range []ekstoken.Request{
			{Cluster: "prod", Region: region},
			{Cluster: "prod", Region: region, FIPS: true},
			{Cluster: "prod"}, // in the machine's region
		} {
			token, err := ekstoken.Get(t.Context(), serviceOf(t, cloud.Metadata()), r, time.Now)
			if err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
			signed := signedURL(t, token)
			if code, body := send(cloud, signed, "prod"); code != http.StatusOK || !strings.Contains(body, "assumed-role/node/i-0123456789abcdef0") {
				t.Errorf("%+v: %d %s", r, code, body)
			}
			if code, _ := send(cloud, signed, "other"); code == http.StatusOK {
				t.Errorf("%+v: another cluster can use the token", r)
			}
			if life := time.Until(token.Until); life > 14*time.Minute || life < 13*time.Minute {
				t.Errorf("%+v: good for %s", r, life)
			}
			if shown := fmt.Sprintf("%v %+v", token, token); strings.Contains(shown, "k8s-aws-v1") {
				t.Errorf("it shows itself: %s", shown)
			}
		}
	}
}

// The cluster's authenticator refuses a URL with any other parameter, path or scheme (aws-iam-authenticator: tokenVerifier).
func TestSignedURLHasWhatTheAuthenticatorTakes(t *testing.T) {
	token, err := ekstoken.Get(t.Context(), serviceOf(t, instance("eu-west-1").Metadata()), ekstoken.Request{Cluster: "prod", Region: "eu-west-1"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	signed := signedURL(t, token)
	if signed.Scheme != "https" || signed.Host != "sts.eu-west-1.amazonaws.com" || signed.Path != "/" {
		t.Errorf("it is for %s://%s%s", signed.Scheme, signed.Host, signed.Path)
	}
	query := signed.Query()
	names := slices.Sorted(maps.Keys(query))
	want := []string{"Action", "Version", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-Signature", "X-Amz-SignedHeaders"}
	if !slices.Equal(names, want) {
		t.Errorf("it has the parameters %q", names)
	}
	for name, value := range map[string]string{"Action": "GetCallerIdentity", "Version": "2011-06-15", "X-Amz-Expires": "60", "X-Amz-SignedHeaders": "host;x-k8s-aws-id"} {
		if got := query[name]; !slices.Equal(got, []string{value}) {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// handler is a metadata service with credentials that expire at a time, and with a clock.
func handler(expires, date time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		switch r.URL.Path {
		case "/latest/api/token":
			_, _ = io.WriteString(w, "token")
		case "/latest/dynamic/instance-identity/document":
			_, _ = io.WriteString(w, `{"region": "nowhere"}`)
		case "/latest/meta-data/iam/security-credentials/":
			_, _ = io.WriteString(w, "node")
		case "/latest/meta-data/iam/security-credentials/node":
			_ = json.NewEncoder(w).Encode(map[string]any{
				"Code": "Success", "AccessKeyId": "ASIACANARY", "SecretAccessKey": "canary-key", "Token": "canary-token", "Expiration": expires.UTC().Format(time.RFC3339),
			})
		default:
			http.NotFound(w, r)
		}
	})
}

// A request that AWS would refuse is an error with the reason. With credentials that expire soon, the token expires with them.
func TestTokensAreForNow(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name          string
		expires, date time.Duration
		life          time.Duration
		want          string
	}{
		{"usual", 6 * time.Hour, 0, 14 * time.Minute, ""},
		{"clock a little ahead", 6 * time.Hour, -5 * time.Minute, 14 * time.Minute, ""},
		{"clock ahead", 6 * time.Hour, -6 * time.Minute, 0, "is 6m0s ahead of that of the metadata service"},
		{"clock behind", 6 * time.Hour, 47 * time.Minute, 0, "is 47m0s behind that of the metadata service"},
		{"clock not set", 56 * 365 * 24 * time.Hour, 56 * 365 * 24 * time.Hour, 0, "chronyd"},
		{"expiring", 5 * time.Minute, 0, 5 * time.Minute, ""},
		{"almost expired", 30 * time.Second, 0, 0, "expire at 2026-11-27T12:00:30Z, it is 2026-11-27T12:00:00Z"},
		{"expired", -time.Hour, 0, 0, "expire at 2026-11-27T11:00:00Z"},
	} {
		service := serviceOf(t, handler(now.Add(c.expires), now.Add(c.date)))
		token, err := ekstoken.Get(t.Context(), service, ekstoken.Request{Cluster: "prod", Region: "eu-west-1"}, func() time.Time { return now })
		if c.want == "" && (err != nil || token.Until.Sub(now) != c.life) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !token.Value.IsZero()) {
			t.Errorf("%s: until %s, %v", c.name, token.Until, err)
		}
		if err != nil && strings.Contains(strings.ToLower(err.Error()), "canary") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	service := serviceOf(t, handler(now, now))
	if _, err := ekstoken.Get(t.Context(), service, ekstoken.Request{Cluster: "prod"}, func() time.Time { return now }); err == nil || !strings.Contains(err.Error(), "give --region") {
		t.Errorf("no region: %v", err)
	}
}

func TestAnswerIsInTheVersionThatClientGoAsksFor(t *testing.T) {
	for _, c := range []struct{ info, version, problem string }{
		{"", "client.authentication.k8s.io/v1", ""},
		{`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}`, "client.authentication.k8s.io/v1", ""},
		{`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{}}`, "client.authentication.k8s.io/v1beta1", ""},
		{`{"apiVersion":"client.authentication.k8s.io/v1alpha1"}`, "", `"client.authentication.k8s.io/v1alpha1"`},
		{`{}`, "", "apiVersion"},
		{`<html>`, "", "not JSON"},
	} {
		version, err := ekstoken.Version(c.info)
		if version != c.version || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %q, %v", c.info, version, err)
		}
	}
	now := time.Date(2026, 11, 27, 12, 0, 0, 999, time.FixedZone("", 3600))
	token, err := ekstoken.Get(t.Context(), serviceOf(t, handler(now.Add(time.Hour), now)), ekstoken.Request{Cluster: "prod", Region: "eu-west-1"}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	answer, err := ekstoken.Answer("client.authentication.k8s.io/v1", token)
	want := `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"expirationTimestamp":"2026-11-27T11:14:00Z","token":"` + token.Value.Reveal() + `"}}`
	if err != nil || string(answer) != want {
		t.Errorf("%s, %v; want %s", answer, err, want)
	}
}

// FuzzVersion: for every request of client-go, the answer has a version that the request lists, or it is an error.
func FuzzVersion(f *testing.F) {
	f.Add("")
	f.Add(`{"apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://a.example","config":"secret"}}}`)
	f.Add(`{"apiVersion":1}`)
	f.Fuzz(func(t *testing.T, info string) {
		version, err := ekstoken.Version(info)
		switch {
		case err == nil && !strings.HasPrefix(version, "client.authentication.k8s.io/v1"), err != nil && version != "":
			t.Errorf("%q: %q, %v", info, version, err)
		case err == nil && info != "":
			var asked struct {
				APIVersion string `json:"apiVersion"`
			}
			if err := json.Unmarshal([]byte(info), &asked); err != nil || asked.APIVersion != version {
				t.Errorf("%q asks for %q, and gets %s: %v", info, asked.APIVersion, version, err)
			}
		}
	})
}
