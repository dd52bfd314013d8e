package probe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// shown is a cluster-info: its kubeconfig, its signatures by token, and an answer that replaces it.
type shown struct {
	kubeconfig string
	signatures map[string]string
	status     int
	body       string
}

func (s shown) String() string {
	data := map[string]string{"kubeconfig": s.kubeconfig}
	for id, signature := range s.signatures {
		data["jws-kubeconfig-"+id] = signature
	}
	body, _ := json.Marshal(map[string]any{"kind": "ConfigMap", "data": data})
	return string(body)
}

// kubeconfigWith is the kubeconfig that kubeadm puts into cluster-info.
func kubeconfigWith(authority string) string {
	return "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte(authority)) +
		"\n    server: https://10.0.0.1:6443\n  name: \"\"\ncontexts: null\nkind: Config\npreferences: {}\nusers: null\n"
}

// tokenSignature is the signature of kube-controller-manager's bootstrapsigner.
func tokenSignature(header, text, secret string) string {
	encoded := base64.RawURLEncoding.EncodeToString([]byte(header))
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", encoded, base64.RawURLEncoding.EncodeToString([]byte(text)))
	return encoded + ".." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

const (
	header = `{"alg":"HS256","kid":"abcdef"}`
	secret = "0123456789abcdef"
)

// TestKnownSignature: Kubernetes' signature of an empty text is accepted (the expected value is from
// k8s.io/cluster-bootstrap, token/jws, TestComputeDetachedSignature).
func TestKnownSignature(t *testing.T) {
	const known = "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk"
	if !signed("", known, "joshua", "my voice is my passcode") || signed("x", known, "joshua", "my voice is my passcode") {
		t.Error("a signature of Kubernetes' own is not judged as it does")
	}
}

// shows is a server's cluster-info, and the expected result.
type shows struct {
	// change changes what the server shows at a request, counted from 1; other is the CA of another cluster.
	change func(s *shown, request int32, other string)
	// pinned reports whether the other CA is pinned.
	pinned bool
	cause  resource.Cause
	want   []string
	once   bool // only one request is made
}

var clusters = map[string]shows{
	"all is well": {},
	"a CA of several": {change: func(s *shown, _ int32, other string) {
		s.kubeconfig = kubeconfigWith(other + authorityIn(s.kubeconfig))
	}},
	"another hash": {pinned: true, cause: resource.CausePin, want: []string{"no certificate with a pinned hash", "sha256:"}, once: true},
	"a signature that comes later": {change: func(s *shown, request int32, _ string) {
		if request < 4 {
			s.signatures = map[string]string{}
		}
	}},
	"no signature": {change: func(s *shown, _ int32, _ string) { s.signatures = map[string]string{} }, cause: resource.CauseUnsigned, want: []string{"is not signed for the token abcdef"}},
	"another's secret": {change: func(s *shown, _ int32, _ string) {
		s.signatures = map[string]string{"abcdef": tokenSignature(header, s.kubeconfig, "x")}
	}, cause: resource.CauseUnsigned, want: []string{"is not that of the token"}},
	"another text": {change: func(s *shown, _ int32, _ string) {
		s.signatures = map[string]string{"abcdef": tokenSignature(header, "x", secret)}
	}, cause: resource.CauseUnsigned},
	"another algorithm": {change: func(s *shown, _ int32, _ string) {
		s.signatures = map[string]string{"abcdef": tokenSignature(`{"alg":"none","kid":"abcdef"}`, s.kubeconfig, secret)}
	}, cause: resource.CauseUnsigned},
	"another key": {change: func(s *shown, _ int32, _ string) {
		s.signatures = map[string]string{"abcdef": tokenSignature(`{"alg":"HS256","kid":"fedcba"}`, s.kubeconfig, secret)}
	}, cause: resource.CauseUnsigned},
	"no JWS":        {change: func(s *shown, _ int32, _ string) { s.signatures = map[string]string{"abcdef": "..!"} }, cause: resource.CauseUnsigned},
	"a redirect":    {change: func(s *shown, _ int32, _ string) { s.status = 302 }, cause: resource.CauseRedirect, want: []string{"HTTP status 302"}, once: true},
	"forbidden":     {change: func(s *shown, _ int32, _ string) { s.status = 403 }, cause: resource.CauseDiscovery, want: []string{"HTTP status 403"}, once: true},
	"not there":     {change: func(s *shown, _ int32, _ string) { s.status = 404 }, cause: resource.CauseDiscovery, want: []string{"HTTP status 404"}, once: true},
	"unavailable":   {change: func(s *shown, _ int32, _ string) { s.status = 503 }, cause: resource.CauseConnection, want: []string{"HTTP status 503"}},
	"too much":      {change: func(s *shown, _ int32, _ string) { s.body = strings.Repeat(" ", maxClusterInfo+1) }, cause: resource.CauseDiscovery, want: []string{"more than 262144 bytes"}, once: true},
	"no JSON":       {change: func(s *shown, _ int32, _ string) { s.body = "<html>" }, cause: resource.CauseDiscovery, want: []string{"is no cluster-info"}, once: true},
	"no kubeconfig": {change: func(s *shown, _ int32, _ string) { s.kubeconfig = "" }, cause: resource.CauseDiscovery, want: []string{"is no cluster-info"}, once: true},
	"no CA":         {change: func(s *shown, _ int32, _ string) { s.kubeconfig = "clusters: [{cluster: {}}]" }, cause: resource.CauseDiscovery, want: []string{"does not hold one cluster"}, once: true},
	"two clusters":  {change: func(s *shown, _ int32, _ string) { s.kubeconfig = "clusters: [{cluster: {}}, {cluster: {}}]" }, cause: resource.CauseDiscovery, once: true},
	"no PEM":        {change: func(s *shown, _ int32, _ string) { s.kubeconfig = kubeconfigWith("x") }, cause: resource.CauseDiscovery, once: true},
	"another chain": {change: func(s *shown, _ int32, other string) { s.kubeconfig = kubeconfigWith(other) }, pinned: true, cause: resource.CauseTLS, want: []string{"is not of the cluster that it shows", "that \"O=Acme Co\" has signed"}, once: true},
	"another answer when it is asked again": {
		change: func(s *shown, request int32, _ string) { s.kubeconfig += strings.Repeat("#\n", int(request)) },
		cause:  resource.CauseDiscovery, want: []string{"is another one when the server is asked again"},
	},
}

func TestFetchAuthority(t *testing.T) {
	_, other := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	for name, c := range clusters {
		t.Run(name, func(t *testing.T) { c.fetch(t, other) })
	}
}

func (c shows) fetch(t *testing.T, other string) {
	var requests atomic.Int32
	var authority string
	_, target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces/kube-public/configmaps/cluster-info" || r.Header.Get("Authorization") != "" {
			t.Errorf("request %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		s := shown{kubeconfig: kubeconfigWith(authority), status: http.StatusOK}
		request := requests.Add(1)
		if c.change != nil {
			c.change(&s, request, other)
		}
		if s.signatures == nil {
			s.signatures = map[string]string{"abcdef": tokenSignature(header, s.kubeconfig, secret), "fedcba": "x"}
		}
		if s.body == "" {
			s.body = s.String()
		}
		w.Header().Set("Location", "https://elsewhere.invalid")
		w.WriteHeader(s.status)
		_, _ = w.Write([]byte(s.body))
	})
	authority = target.CertificateAuthority
	target.CertificateAuthority = ""
	pinned := authority
	if c.pinned {
		pinned = other
	}
	var got string
	var err error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err = Cluster{}.FetchAuthority(ctx, target, func(bundle string) bool { return strings.Contains(bundle, pinned) })
	})
	if c.cause == "" {
		must(t, err)
		if !strings.Contains(got, authority) || requests.Load() < 2 {
			t.Errorf("got %q after %d requests", got, requests.Load())
		}
		return
	}
	if got != "" {
		t.Errorf("got %q", got)
	}
	wantCheckError(t, err, c.cause, append(c.want, "https://127.0.0.1")...)
	if once := requests.Load() == 1; once != c.once {
		t.Errorf("asked %d times", requests.Load())
	}
}

// TestFetchAuthorityInTime: a silent server costs no more than the available time.
func TestFetchAuthorityInTime(t *testing.T) {
	ctx := hosttest.NewTimed(t)
	hang := make(chan struct{})
	_, target := serve(t, func(http.ResponseWriter, *http.Request) { ctx.Over(); <-hang })
	t.Cleanup(func() { close(hang) })
	_, err := Cluster{}.FetchAuthority(ctx, target, func(string) bool { return true })
	wantCheckError(t, err, resource.CauseConnection, "no answer to GET")
	_, err = Cluster{}.FetchAuthority(ctx, &resource.APIServer{Server: "http://x"}, nil)
	wantCheckError(t, err, resource.CauseConnection, "is not the https URL")
}

// FuzzClusterInfo: whatever a server shows, only content that the token has signed counts, and the function returns.
func FuzzClusterInfo(f *testing.F) {
	f.Add(kubeconfigWith("x"), tokenSignature(header, kubeconfigWith("x"), secret))
	f.Add("clusters: [{cluster: {certificate-authority-data: eA==}}]", "..")
	f.Fuzz(func(t *testing.T, kubeconfig, given string) {
		if signed(kubeconfig, given, "abcdef", secret) && !signed(kubeconfig, strings.TrimRight(given, "\r\n"), "abcdef", secret) {
			t.Error("a signature depends on what is after it")
		}
		if bundle := authorityIn(kubeconfig); bundle != "" && len(certificatesIn([]byte(bundle))) == 0 {
			t.Errorf("the CA %q has no certificate", bundle)
		}
	})
}
