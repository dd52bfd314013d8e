package detect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/launch/azure"
)

// plugged is the variable that makes this program a kubeconfig's plug-in. Its value is how the plug-in behaves.
const plugged = "SLIPWAY_TEST_PLUGIN"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(plugged); behaviour != "" {
		os.Exit(plugin(behaviour))
	}
	os.Exit(m.Run())
}

// plugin acts as a plug-in. It gives a token only if its input is that of a Kubernetes client.
func plugin(behaviour string) int {
	var in struct {
		APIVersion, Kind string
		Spec             struct {
			Interactive bool
			Cluster     *struct{ Server string }
		}
	}
	if json.Unmarshal([]byte(os.Getenv("KUBERNETES_EXEC_INFO")), &in) != nil || in.Kind != "ExecCredential" || in.Spec.Interactive {
		return 3
	}
	switch behaviour {
	case "token":
		if len(os.Args) != 2 || os.Args[1] != "get-token" || in.Spec.Cluster == nil || !strings.HasPrefix(in.Spec.Cluster.Server, "https://") {
			return 4
		}
		fmt.Fprintln(os.Stderr, "to sign in, open a page")
		fmt.Printf(`{"apiVersion": %q, "kind": "ExecCredential", "status": {"token": %q}}`, in.APIVersion, secret)
	case "nothing":
		fmt.Print(`{"kind": "ExecCredential", "status": {}}`)
	case "words":
		fmt.Print("no JSON, but ", secret)
	case "much":
		_, _ = io.CopyN(os.Stdout, zeroes{}, 2<<20)
	default:
		return 7
	}
	return 0
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

// api is a fake API server. It answers by path; all other paths are not found.
type api struct {
	*httptest.Server
	answers map[string]string
	// codes are failing answers, by path.
	codes map[string]int
}

const dnsPath, rangePath = "/api/v1/namespaces/kube-system/services/kube-dns", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{answers: map[string]string{
		"/version": `{"major": "1", "minor": "34", "gitVersion": "v1.34.2"}`,
		dnsPath:    `{"kind": "Service", "spec": {"clusterIP": "10.0.0.10"}}`,
		rangePath:  `{"kind": "ServiceCIDR", "spec": {"cidrs": ["10.0.0.0/16", "fd12:3456:789a::/108"]}}`,
	}, codes: make(map[string]int)}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(a.serve))
	a.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests use a client that does not trust the server
	a.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	a.StartTLS()
	t.Cleanup(a.Close)
	return a
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	code, answer := a.codes[r.URL.Path], a.answers[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "Bearer "+secret && (r.TLS == nil || len(r.TLS.PeerCertificates) == 0):
		code = http.StatusUnauthorized
	case code == 0 && answer == "":
		code = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	if code != 0 {
		w.WriteHeader(code)
		answer = `{"kind": "Status", "message": "no, because"}`
	}
	_, _ = io.WriteString(w, answer)
}

// pem is the server's CA: its certificate is self-signed.
func (a *api) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}))
}

// config is a kubeconfig for the server, with fields of its cluster and its user replaced. nil removes a field.
func (a *api) config(t *testing.T, cluster, user map[string]any) []byte {
	t.Helper()
	of := map[string]any{"server": a.URL, "certificate-authority-data": []byte(a.pem())}
	who := map[string]any{"token": secret}
	for into, from := range map[*map[string]any]map[string]any{&of: cluster, &who: user} {
		for key, value := range from {
			if (*into)[key] = value; value == nil {
				delete(*into, key)
			}
		}
	}
	data, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "here", "preferences": map[string]any{},
		"contexts": []any{
			map[string]any{"name": "here", "context": map[string]any{"cluster": "c", "user": "u"}},
			map[string]any{"name": "lost", "context": map[string]any{"cluster": "gone", "user": "u"}},
			map[string]any{"name": "nobody", "context": map[string]any{"cluster": "c", "user": ""}},
		},
		"clusters": []any{map[string]any{"name": "c", "cluster": of}},
		"users":    []any{map[string]any{"name": "u", "user": who}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// detectBy detects the facts by a kubeconfig.
func detectBy(t *testing.T, config []byte, context string) (*azure.Detected, string, error) {
	t.Helper()
	k, err := detect.ReadKubeconfig(config, t.TempDir(), context)
	if err != nil {
		return nil, "", err
	}
	var messages strings.Builder
	k.Now, k.Messages = fakeazure.Noon, &messages
	found, err := k.Detect(t.Context())
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("a credential is in %v", err)
	}
	readable(t, found, detected)
	return found, messages.String(), err
}

// A kubeconfig is enough for four facts.
func TestKubernetes(t *testing.T) {
	a := newAPI(t)
	found, _, err := detectBy(t, a.config(t, nil, nil), "")
	if err != nil {
		t.Fatal(err)
	}
	if found.CertificateAuthority.Value != a.pem() {
		t.Error("the CA is not the kubeconfig's")
	}
	found.CertificateAuthority.Value = "..." // it differs in each test
	golden(t, "kubernetes.json", found)
}

// A question without an answer costs one fact.
func TestKubernetesAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*api)
		fact   string
		want   []string
		right  string
	}{
		{"no right", func(a *api) { a.codes[dnsPath] = http.StatusForbidden }, "dnsServiceIP", []string{"get services", "the ClusterRole view"}, "get services"},
		{"no right to the version", func(a *api) { a.codes["/version"] = http.StatusForbidden }, "kubernetesVersion", []string{"system:public-info-viewer"}, "get /version"},
		{"no right to the range", func(a *api) { a.codes[rangePath] = http.StatusForbidden }, "serviceCIDR", []string{"servicecidrs.networking.k8s.io"}, "get servicecidrs.networking.k8s.io"},
		{"no DNS service", func(a *api) { delete(a.answers, dnsPath) }, "dnsServiceIP", []string{"404", "no, because"}, ""},
		{"a DNS service without an address", func(a *api) { a.answers[dnsPath] = `{"spec": {}}` }, "dnsServiceIP", []string{"does not have it"}, ""},
		{"a headless DNS service", func(a *api) { a.answers[dnsPath] = `{"spec": {"clusterIP": "None"}}` }, "dnsServiceIP", []string{`is "None", which a launch refuses`}, ""},
		{"no range, and no DNS service", func(a *api) { delete(a.answers, dnsPath); delete(a.answers, rangePath) }, "serviceCIDR", []string{"404"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAPI(t)
			c.change(a)
			found, _, err := detectBy(t, a.config(t, nil, nil), "")
			reason := factError(t, err, c.fact)
			for _, want := range c.want {
				if !strings.Contains(reason.Error(), want) {
					t.Errorf("%v\ndoes not say %q", reason, want)
				}
			}
			right, ok := errors.AsType[*detect.RightError](reason)
			if ok != (c.right != "") || ok && right.Action != c.right {
				t.Errorf("%v: the missing right is %+v", reason, right)
			}
			if found.CertificateAuthority == nil || found.CertificateAuthority.Confidence != "" {
				t.Errorf("the CA is %+v", found.CertificateAuthority)
			}
		})
	}
}

// API servers before 1.33 do not serve the range. If the DNS service's address is known, no error reports that.
func TestKubernetesWithoutRange(t *testing.T) {
	a := newAPI(t)
	delete(a.answers, rangePath)
	found, _, err := detectBy(t, a.config(t, nil, nil), "")
	if err != nil || found.ServiceCIDR != nil || found.DNSServiceIP.Value != "10.0.0.10" {
		t.Errorf("%+v, %v", found, err)
	}
}

// A server that another CA has signed is another cluster's: the CA is not used, and no other request is sent.
func TestForeignServer(t *testing.T) {
	a := newAPI(t)
	found, _, err := detectBy(t, a.config(t, map[string]any{"certificate-authority-data": []byte(authority(t))}, nil), "")
	if reason := factError(t, err, "certificateAuthority"); !strings.Contains(reason.Error(), "not of the CA") {
		t.Error(reason)
	}
	if *found != (azure.Detected{APIVersion: found.APIVersion, Kind: found.Kind}) {
		t.Errorf("something is known: %+v", found)
	}
}

// If the server is unreachable, the CA remains, which is then only likely, and there is one error.
func TestServerIsAway(t *testing.T) {
	a := newAPI(t)
	config := a.config(t, nil, nil)
	a.Close()
	found, _, err := detectBy(t, config, "")
	if len(flat(err)) != 1 || !strings.Contains(err.Error(), "API server") {
		t.Errorf("%v", err)
	}
	if c := found.CertificateAuthority; c == nil || c.Confidence != "likely" {
		t.Errorf("the CA is %+v", c)
	}
}

// The server's certificate must contain the name in the kubeconfig.
func TestServerName(t *testing.T) {
	a := newAPI(t)
	if _, _, err := detectBy(t, a.config(t, map[string]any{"tls-server-name": "example.com"}, nil), ""); err != nil {
		t.Error(err)
	}
	_, _, err := detectBy(t, a.config(t, map[string]any{"tls-server-name": "api.invalid"}, nil), "")
	if wrong, ok := errors.AsType[x509.HostnameError](err); !ok || wrong.Host != "api.invalid" {
		t.Errorf("%v, want that the certificate is not for api.invalid", err)
	}
}

// For an invalid credential, each of the three facts has an error that says so.
func TestInvalidCredential(t *testing.T) {
	a := newAPI(t)
	_, _, err := detectBy(t, a.config(t, nil, nil), "nobody")
	if len(flat(err)) != 3 || strings.Count(err.Error(), "the credential of the kubeconfig is not valid") != 3 {
		t.Errorf("%v", err)
	}
}

// A kubeconfig names files by absolute paths, or relative to itself.
func TestFiles(t *testing.T) {
	a := newAPI(t)
	dir := t.TempDir()
	for name, data := range map[string]string{"ca.crt": a.pem(), "token": secret + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"token", filepath.Join(dir, "token")} {
		config := a.config(t, map[string]any{"certificate-authority-data": nil, "certificate-authority": "ca.crt", "tls-server-name": "example.com"}, map[string]any{"token": nil, "tokenFile": file})
		k, err := detect.ReadKubeconfig(config, dir, "")
		if err != nil {
			t.Fatal(err)
		}
		if found, err := k.Detect(t.Context()); err != nil || found.KubernetesVersion.Value != "v1.34.2" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A client certificate signs in, as in the kubeconfig of an administrator.
func TestClientCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: fakeazure.Noon().AddDate(50, 0, 0)}, &x509.Certificate{}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a := newAPI(t)
	config := a.config(t, nil, map[string]any{
		"token": nil, "client-certificate-data": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
		"client-key-data": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	})
	if found, _, err := detectBy(t, config, ""); err != nil || found.KubernetesVersion == nil {
		t.Errorf("%v", err)
	}
}

// A plug-in signs in, as kubelogin does for clusters with Entra ID.
func TestPlugin(t *testing.T) {
	a := newAPI(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(behaviour, command string, more map[string]any) ([]byte, error) {
		exec := map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1beta1", "command": command, "args": []any{"get-token"}, "provideClusterInfo": true,
			"env": []any{map[string]any{"name": plugged, "value": behaviour}}, "interactiveMode": "IfAvailable",
		}
		for key, value := range more {
			exec[key] = value
		}
		_, messages, err := detectBy(t, a.config(t, nil, map[string]any{"token": nil, "exec": exec}), "")
		return []byte(messages), err
	}
	if messages, err := run("token", self, nil); err != nil || !strings.Contains(string(messages), "open a page") {
		t.Errorf("%v, and it says %q", err, messages)
	}
	for behaviour, want := range map[string]string{
		"nothing": "answers without a credential", "words": "does not answer with an ExecCredential", "fails": "exit status 7", "much": "more than a credential",
	} {
		if _, err := run(behaviour, self, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want that it %s", behaviour, err, want)
		}
	}
	_, err = run("token", "slipway-no-such-plugin", map[string]any{"installHint": "install it so"})
	if err == nil || !strings.Contains(err.Error(), "slipway-no-such-plugin") || !strings.Contains(err.Error(), "install it so") {
		t.Errorf("no plug-in: %v", err)
	}
}

// Each row is a kubeconfig that cannot be used, with the reason. No reason repeats a credential.
func TestBadKubeconfigs(t *testing.T) {
	a := newAPI(t)
	for _, c := range []struct {
		name, context string
		config        []byte
		want          string
	}{
		{"empty", "", nil, "is not a kubeconfig"},
		{"no document", "", []byte("{" + secret), "is not a kubeconfig"},
		{"of the wrong type", "", []byte(`{"contexts": {"a": 1}, "users": "` + secret + `"}`), "$.contexts"},
		{"no current context", "", []byte(`{"contexts": []}`), "names no current context"},
		{"an unknown context", "nowhere", a.config(t, nil, nil), `has no context "nowhere"`},
		{"an unknown cluster", "lost", a.config(t, nil, nil), `names the cluster "gone"`},
		{"no CA", "", a.config(t, map[string]any{"certificate-authority-data": nil}, nil), "certificate-authority-data: is missing"},
		{"a CA that is not base64", "", a.config(t, map[string]any{"certificate-authority-data": "?"}, nil), "is not base64"},
		{"a CA that is not there", "", a.config(t, map[string]any{"certificate-authority-data": nil, "certificate-authority": "none"}, nil), "certificate-authority: open "},
		{"any CA", "", a.config(t, map[string]any{"insecure-skip-tls-verify": true}, nil), "insecure-skip-tls-verify"},
		{"no TLS", "", a.config(t, map[string]any{"server": "http://api.example.com"}, nil), "server: want a URL such as https://"},
		{"a bad proxy", "", a.config(t, map[string]any{"proxy-url": "%"}, nil), "proxy-url"},
		{"a password", "", a.config(t, nil, map[string]any{"username": "admin", "password": secret}), "username: is no credential"},
		{"a provider of the past", "", a.config(t, nil, map[string]any{"auth-provider": map[string]any{"name": "azure"}}), "auth-provider: is not in Kubernetes any more"},
		{"impersonation", "", a.config(t, nil, map[string]any{"as": "admin"}), "as: impersonates another user"},
		{"half a pair", "", a.config(t, nil, map[string]any{"client-key-data": []byte(secret)}), "are not a pair"},
		{"a token that is not there", "", a.config(t, nil, map[string]any{"token": nil, "tokenFile": "none"}), "tokenFile: open "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := detectBy(t, c.config, c.context)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// The API server's own answers win over Azure's. Two that differ may belong to two clusters.
func TestMerge(t *testing.T) {
	fact := func(value, source string) *azure.Fact { return &azure.Fact{Value: value, Source: source} }
	first := &azure.Detected{KubernetesVersion: fact("v1.34.2", "server"), DNSServiceIP: fact("10.0.0.10", "server"), CertificateAuthority: fact("CA\n", "server")}
	second := &azure.Detected{KubernetesVersion: fact("1.34.2", "cluster"), DNSServiceIP: fact("10.1.0.10", "cluster"), CertificateAuthority: fact("CA", "cluster"), SubnetID: fact(nodes, "cluster")}
	merged, err := detect.Merge(first, second)
	if merged.KubernetesVersion != first.KubernetesVersion || merged.SubnetID != second.SubnetID || first.SubnetID != nil {
		t.Errorf("%+v", merged)
	}
	if len(flat(err)) != 1 || factError(t, err, "dnsServiceIP").Error() != "dnsServiceIP: server and cluster do not say the same; are they of one cluster?" {
		t.Errorf("%v", err)
	}
}
