// Command aks-secure-tls-bootstrap-client replaces AKS's program of that name in the test's images. It has the same flags, requests
// the same access token from the metadata service, and leaves the same files. But it requests the certificate from the API server
// itself, with the token as the credential, because the lab has no server for attested identities. test/e2e/parts builds it.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// config has the values of the flags.
type config struct {
	resource, server, cloud, identity, protocol, kubeconfig, certDir, ca, log string
	verbose, authorized                                                       bool
	// limits are the timeouts, by flag.
	limits map[string]*time.Duration
}

func flags(args []string) (*config, error) {
	c := &config{limits: make(map[string]*time.Duration)}
	set := flag.NewFlagSet("client", flag.ContinueOnError)
	for name, value := range map[string]*string{
		"aad-resource": &c.resource, "apiserver-fqdn": &c.server, "cloud-provider-config": &c.cloud, "next-proto": &c.protocol,
		"kubeconfig": &c.kubeconfig, "cert-dir": &c.certDir, "cluster-ca-file": &c.ca,
	} {
		set.StringVar(value, name, "", "required")
	}
	set.StringVar(&c.identity, "user-assigned-identity-id", "", "")
	set.StringVar(&c.log, "log-file", "", "")
	set.BoolVar(&c.verbose, "verbose", false, "")
	set.BoolVar(&c.authorized, "ensure-authorized", false, "")
	for name, limit := range map[string]time.Duration{
		"validate-kubeconfig-timeout": 15 * time.Second, "get-access-token-timeout": time.Minute, "get-instance-data-timeout": 15 * time.Second,
		"get-nonce-timeout": 15 * time.Second, "get-attested-data-timeout": 15 * time.Second, "get-credential-timeout": 6 * time.Minute,
	} {
		c.limits[name] = set.Duration(name, limit, "")
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var missing []error
	set.VisitAll(func(f *flag.Flag) {
		if f.Usage == "required" && f.Value.String() == "" {
			missing = append(missing, fmt.Errorf("--%s is required", f.Name))
		}
	})
	return c, errors.Join(missing...)
}

func main() {
	c, err := flags(os.Args[1:])
	if err == nil {
		err = c.run(context.Background())
	}
	if err != nil {
		fmt.Println("failed to bootstrap:", err)
		os.Exit(1)
	}
}

func (c *config) run(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(c.log), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(c.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	out := io.MultiWriter(os.Stdout, log)
	if err := c.within("validate-kubeconfig-timeout", ctx, c.validate); err == nil {
		fmt.Fprintln(out, "existing kubeconfig is valid, will skip bootstrapping")
		return nil
	}
	var token string
	err = c.within("get-access-token-timeout", ctx, func(ctx context.Context) (err error) {
		token, err = c.token(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("GetAccessTokenFailure: %w", err)
	}
	if err := c.within("get-credential-timeout", ctx, func(ctx context.Context) error { return c.credential(ctx, token) }); err != nil {
		return fmt.Errorf("GetCredentialFailure: %w", err)
	}
	fmt.Fprintln(out, "bootstrapping succeeded")
	return nil
}

// within gives a step the time in its flag.
func (c *config) within(limit string, ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, *c.limits[limit])
	defer cancel()
	return step(ctx)
}

// current is the kubelet's newest certificate (k8s.io/client-go: util/certificate, FileStore).
func (c *config) current() string { return filepath.Join(c.certDir, "kubelet-client-current.pem") }

// validate checks whether the API server accepts the existing certificate.
func (c *config) validate(ctx context.Context) error {
	if _, err := os.Stat(c.kubeconfig); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.current(), c.current())
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodGet, "/version", "", &pair, nil, nil)
}

// token requests an access token of the node's identity from the metadata service.
func (c *config) token(ctx context.Context) (string, error) {
	var cloud struct {
		UserAssignedIdentityID string `json:"userAssignedIdentityID"`
	}
	content, err := os.ReadFile(c.cloud)
	if err == nil {
		err = json.Unmarshal(content, &cloud)
	}
	if err != nil {
		return "", fmt.Errorf("cloud provider config: %w", err)
	}
	if c.identity != "" {
		cloud.UserAssignedIdentityID = c.identity
	}
	query := url.Values{"api-version": {"2018-02-01"}, "resource": {c.resource}, "client_id": {cloud.UserAssignedIdentityID}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://169.254.169.254/metadata/identity/oauth2/token?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Metadata", "true")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	err = exchange(http.DefaultClient, request, &answer)
	return answer.AccessToken, err
}

// credential gets a certificate for a new key, and writes both and the kubeconfig.
func (c *config) credential(ctx context.Context, token string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	subject := pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + host}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	certificate, err := c.sign(ctx, token, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.certDir, 0o700); err != nil {
		return err
	}
	pair := filepath.Join(c.certDir, "kubelet-client-"+time.Now().Format("2006-01-02-15-04-05")+".pem")
	if err := os.WriteFile(pair, append(certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})...), 0o600); err != nil {
		return err
	}
	if err := os.Remove(c.current()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(pair, c.current()); err != nil {
		return err
	}
	return os.WriteFile(c.kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster: {certificate-authority: %s, server: "https://%s:443"}
users:
- name: default-auth
  user: {client-certificate: %[3]s, client-key: %[3]s}
contexts:
- name: default-context
  context: {cluster: default-cluster, user: default-auth}
current-context: default-context
`, c.ca, c.server, c.current()), 0o600)
}

// sign lets the cluster sign a request.
func (c *config) sign(ctx context.Context, token string, request []byte) ([]byte, error) {
	type object struct {
		APIVersion string         `json:"apiVersion,omitempty"`
		Kind       string         `json:"kind,omitempty"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec,omitempty"`
		Status     struct {
			Certificate []byte `json:"certificate,omitempty"`
		} `json:"status"`
	}
	const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	made := object{
		APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest",
		Metadata: map[string]any{"generateName": "attested-"},
		Spec: map[string]any{
			"request": request, "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
			"usages": []string{"digital signature", "client auth"},
		},
	}
	if err := c.call(ctx, http.MethodPost, requests, token, nil, made, &made); err != nil {
		return nil, err
	}
	for len(made.Status.Certificate) == 0 {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the request is not signed: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
		if err := c.call(ctx, http.MethodGet, requests+"/"+fmt.Sprint(made.Metadata["name"]), token, nil, nil, &made); err != nil {
			return nil, err
		}
	}
	return made.Status.Certificate, nil
}

// call sends a request to the API server, with a token or a certificate.
func (c *config) call(ctx context.Context, method, path, token string, pair *tls.Certificate, body, answer any) error {
	authority, err := os.ReadFile(c.ca)
	if err != nil {
		return err
	}
	trusted := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	trusted.RootCAs.AppendCertsFromPEM(authority)
	if pair != nil {
		trusted.Certificates = []tls.Certificate{*pair}
	}
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "https://"+c.server+path, &content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return exchange(&http.Client{Transport: &http.Transport{TLSClientConfig: trusted}}, request, answer)
}

// exchange sends a request and reads the answer, which is JSON.
func exchange(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, content)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(content, into)
}
