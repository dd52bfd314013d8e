package detect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Kubernetes reads from the API server of a kubeconfig. [ReadKubeconfig] makes it.
type Kubernetes struct {
	// Now returns the time for the facts. If nil, the machine's clock.
	Now func() time.Time
	// Messages receives the messages of a plug-in that signs in. If nil, they are discarded.
	Messages io.Writer

	settings *settings
}

// ReadKubeconfig reads a kubeconfig. Relative paths start at directory. An empty context means the current one.
func ReadKubeconfig(data []byte, directory, context string) (*Kubernetes, error) {
	s, err := readKubeconfig(data, directory, context)
	if err != nil {
		return nil, err
	}
	return &Kubernetes{settings: s}, nil
}

// question is a fact, its path on the API server, and how to read the answer. An empty value means that the answer has none.
type question struct {
	fact, path, source string
	call               call
	at                 func(*azure.Detected) **azure.Fact
	value              func(*object) string
}

// object has the fields of the answers that this package reads.
type object struct {
	GitVersion string `json:"gitVersion"`
	Spec       struct {
		ClusterIP string   `json:"clusterIP"`
		CIDRs     []string `json:"cidrs"`
	} `json:"spec"`
}

// questions are all requests. AKS, kubeadm and other installers name the service of the cluster's DNS kube-dns, whichever program
// answers there. API servers serve ServiceCIDR since Kubernetes 1.33.
var questions = []question{
	{
		"kubernetesVersion", "/version", "GET /version of the API server", call{&apiServer, "get /version", "the ClusterRole system:public-info-viewer"},
		func(d *azure.Detected) **azure.Fact { return &d.KubernetesVersion },
		func(o *object) string { return o.GitVersion },
	},
	{
		"dnsServiceIP", "/api/v1/namespaces/kube-system/services/kube-dns", "service kube-system/kube-dns", call{&apiServer, "get services", "the ClusterRole view"},
		func(d *azure.Detected) **azure.Fact { return &d.DNSServiceIP },
		func(o *object) string { return o.Spec.ClusterIP },
	},
	{
		"serviceCIDR", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "ServiceCIDR kubernetes", call{&apiServer, "get servicecidrs.networking.k8s.io", "a ClusterRole with this rule"},
		func(d *azure.Detected) **azure.Fact { return &d.ServiceCIDR },
		func(o *object) string { return strings.Join(o.Spec.CIDRs, ",") },
	},
}

// Detect reads the facts that the API server knows: version, CA, address of the DNS service, range of services. It always returns a
// document, with the facts that are known. The error has a [*FactError] for each other fact. The CA is certain if the API server
// has shown a certificate that it has signed.
func (k *Kubernetes) Detect(ctx context.Context) (*azure.Detected, error) {
	f := newFinding(clock(k.Now))
	const fact = "certificateAuthority"
	authority, err := k.settings.authority()
	if err != nil {
		f.fail(fact, fmt.Errorf("kubeconfig, context %s: %w", k.settings.context, err))
		return f.result()
	}
	client, err := k.client(ctx, authority)
	if err != nil {
		return f.document, fmt.Errorf("kubeconfig, context %s: %w", k.settings.context, err)
	}
	f.document.CertificateAuthority = f.fact(string(authority), "kubeconfig, context "+k.settings.context)
	f.document.CertificateAuthority.Confidence = likely
	for _, q := range questions {
		answer, err := client.get(ctx, q.path)
		switch {
		case isForeign(err):
			f.document.CertificateAuthority = nil
			f.fail(fact, errors.New("the API server's certificate is not of the CA of the kubeconfig"))
			return f.result()
		case err != nil && !isAnswer(err): // the other questions would time out as well
			f.wrong = append(f.wrong, fmt.Errorf("API server: %w", err))
			return f.result()
		}
		f.answer(&q, answer, err, client.endpoint)
	}
	return f.result()
}

// answer processes the answer to a question.
func (f *finding) answer(q *question, answer *object, err error, endpoint string) {
	f.document.CertificateAuthority.Confidence = ""
	switch {
	case isMissing(err) && q.fact == "serviceCIDR" && f.document.DNSServiceIP != nil:
		// API servers before 1.33 do not serve the range. Launches need it only for the DNS service's address.
	case err != nil:
		f.fail(q.fact, q.call.explain(err, endpoint))
	default:
		value := q.value(answer)
		if value == "" {
			f.fail(q.fact, fmt.Errorf("the answer of the API server to %s does not have it", q.path))
			return
		}
		*q.at(f.document) = f.fact(value, q.source)
	}
}

// apiClient sends requests to one API server.
type apiClient struct {
	endpoint string
	pipeline runtime.Pipeline
}

// client signs in to the API server.
func (k *Kubernetes) client(ctx context.Context, authority []byte) (*apiClient, error) {
	s := k.settings
	endpoint, err := s.endpoint()
	if err := errors.Join(err, s.refused()); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, Protocols: new(http.Protocols),
		TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool(), ServerName: s.server.ServerName, MinVersion: tls.VersionTLS12},
		// All requests share an HTTP/2 connection. If the server is gone, only a ping detects that (client-go: 30 and 15 s).
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
	transport.Protocols.SetHTTP1(true)
	transport.Protocols.SetHTTP2(true)
	transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(authority)
	if s.server.Proxy != "" {
		proxy, err := url.Parse(s.server.Proxy)
		if err != nil || proxy.Host == "" {
			return nil, errors.New("proxy-url: is no URL")
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	certificate, err := s.certificate()
	if err != nil {
		return nil, err
	}
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	if s.user.Exec != nil {
		out, err := s.user.Exec.run(ctx, s, authority, k.Messages)
		if err != nil {
			return nil, err
		}
		token = nodeconfig.NewSecret(out.Status.Token)
		if out.Status.Certificate != "" {
			if certificate, err = pair([]byte(out.Status.Certificate), []byte(out.Status.Key)); err != nil {
				return nil, err
			}
		}
	}
	if certificate != nil {
		transport.TLSClientConfig.Certificates = []tls.Certificate{*certificate}
	}
	return &apiClient{endpoint, newPipeline(transport, token)}, nil
}

// newPipeline uses the SDK's pipeline, because it waits as long as a busy server asks for. It does not retry if it cannot reach the
// server, because a person waits for the result.
func newPipeline(transport *http.Transport, token nodeconfig.Secret) runtime.Pipeline {
	busy := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return runtime.NewPipeline("slipway", "", runtime.PipelineOptions{PerRetry: []policy.Policy{bearer{token}}}, &policy.ClientOptions{
		Transport: &http.Client{Transport: transport},
		Retry: policy.RetryOptions{ShouldRetry: func(r *http.Response, err error) bool {
			return err == nil && slices.Contains(busy, r.StatusCode)
		}},
	})
}

// bearer adds the token to each request.
type bearer struct{ token nodeconfig.Secret }

// Do implements policy.Policy.
func (b bearer) Do(r *policy.Request) (*http.Response, error) {
	if !b.token.IsZero() {
		r.Raw().Header.Set("Authorization", "Bearer "+b.token.Reveal())
	}
	return r.Next()
}

// get reads an object.
func (c *apiClient) get(ctx context.Context, path string) (*object, error) {
	r, err := runtime.NewRequest(ctx, http.MethodGet, c.endpoint+path)
	if err != nil {
		return nil, err
	}
	r.Raw().Header.Set("Accept", "application/json")
	answer, err := c.pipeline.Do(r)
	if err != nil {
		return nil, err
	}
	if !runtime.HasStatusCode(answer, http.StatusOK) {
		return nil, runtime.NewResponseError(answer)
	}
	data, err := runtime.Payload(answer)
	if err != nil {
		return nil, err
	}
	o := new(object)
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("the answer of the API server to %s is not JSON: %w", path, err)
	}
	return o, nil
}

// isForeign reports whether a server has shown a certificate that another CA has signed.
func isForeign(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
