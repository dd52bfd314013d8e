package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// credentialPatience is how long a plug-in and the API server may take.
	credentialPatience = 3 * time.Second
	// currentCertificate is the kubelet's client certificate with its key (k8s.io/client-go, util/certificate).
	currentCertificate = "kubelet-client-current.pem"
	// maxNode limits a Node: it lists the node's images.
	maxNode = 4 << 20
)

// credentialChecks are those of the kubelet's credential.
var credentialChecks = []Check{{
	Name: "own-credential", Asks: "Does the kubelet have a certificate or a token that is valid now, and of this machine's Node?",
	Needs: []string{"clock", "kubeconfig"},
	Causes: []Cause{
		{"missing", "the kubeconfig names a certificate or a token that does not exist", "join the machine again with a new bootstrap token: remove the kubelet's kubeconfig first, so that the kubelet asks for a certificate"},
		{"damaged", "the certificate or its key cannot be read, or do not belong together", "remove the kubelet's kubeconfig and the directory of its certificates, and join the machine again"},
		{"expired", "the credential has expired", "join the machine again with a new bootstrap token; a machine that was off for longer than a certificate lasts needs this"},
		{"other-node", "the certificate is of another Node", "give the machine its own name and join it again, or set --hostname-override to the certificate's name: a disk of another machine, or a changed host name, leads here"},
	},
	Look: lookOwnCredential,
}, {
	Name: "credential", Asks: "Does the API server accept the kubelet's credential, and whose is it?",
	Needs: []string{"api-server", "own-credential"}, Live: true, Deadline: credentialPatience + time.Second,
	Causes: []Cause{
		{"expired", "the credential plug-in gives one that has expired", "run the plug-in's command line from the kubeconfig by hand, and clear its cache"},
		{"plugin", "the credential plug-in gives no credential", "run the plug-in's command line from the kubeconfig by hand; on EC2 it needs the instance's role and the metadata service"},
		{"refused-certificate", "the API server refuses the certificate", "join the machine again: the certificate is of another cluster, or of a CA that the cluster does not use any more"},
		{"refused-token", "the API server refuses the bootstrap token", "create a new token (`kubeadm token create`; AKS: the cluster does it) and join the machine again: tokens last a day, and the token's Secret in kube-system may be removed"},
		{"refused-identity", "the cluster does not know the machine's AWS identity", "create an access entry of the type EC2_LINUX for the instance role's ARN (`aws eks create-access-entry`), or map the role in the ConfigMap aws-auth with the groups system:bootstrappers and system:nodes"},
		{"other-name", "the cluster gives the machine's AWS identity another Node's name", "let the kubelet use the instance's private DNS name (--hostname-override), which an access entry of the type EC2_LINUX and {{EC2PrivateDNSName}} in aws-auth name; check the VPC's DHCP option domain-name"},
		{"no-node-rights", "the cluster gives the machine's AWS identity no node's rights", "use an access entry of the type EC2_LINUX, or give the role's mapping in aws-auth the group system:nodes"},
	},
	Look: lookCredential,
}}

// credential is what this machine shows the API server.
type credential struct {
	*kubeletsetup.Access
	bootstrap bool
	what      string
	leaf      *x509.Certificate
	token     nodeconfig.Secret
	pair, key nodeconfig.Secret
}

// ownNode is the API server's answer to the question for this machine's Node.
type ownNode struct{ answer atomic.Pointer[nodeAnswer] }

type nodeAnswer struct {
	credential *credential
	outcome    *host.Outcome
}

func lookOwnCredential(_ context.Context, p *Patient) *Finding {
	if p.access().server == nil {
		return fine("this machine does not know its API server yet")
	}
	c, f := p.findCredential()
	switch {
	case c == nil:
		return f
	case len(c.Plugin) > 0:
		return fine("%s gets the credential", c.what)
	}
	return fine("the kubelet has %s%s", c.what, c.lasts())
}

func lookCredential(ctx context.Context, p *Patient) *Finding {
	s := p.server()
	if s == nil {
		return skipped("this machine does not know its API server yet")
	}
	c, f := p.findCredential()
	if c == nil {
		return f
	}
	if len(c.Plugin) > 0 {
		if f := c.runPlugin(ctx, p); f != nil {
			return f
		}
	}
	ctx, cancel := context.WithTimeout(ctx, p.Patience(credentialPatience))
	defer cancel()
	o := c.ask(ctx, p, s, http.MethodGet, "/api/v1/nodes/"+url.PathEscape(p.Kubelet().Node.Value), nil)
	p.known.own.answer.Store(&nodeAnswer{c, o})
	return c.judge(ctx, p, s, o).with("GET the Node "+p.Kubelet().Node.Value+" with "+c.what, describe(o))
}

// ask sends a request with the credential.
func (c *credential) ask(ctx context.Context, p *Patient, s *server, method, path string, body []byte) *host.Outcome {
	a := s.attempt(ctx, p, path)
	a.Method, a.Body, a.Limit = method, body, maxNode
	a.Token, a.Certificate, a.Key = c.token, c.pair, c.key
	return p.Machine.Attempt(ctx, a)
}

// findCredential finds the credential that the kubelet uses now: its own, or else the bootstrap one. Without a credential, the
// finding says why.
func (p *Patient) findCredential() (*credential, *Finding) {
	a := p.access()
	if a.kubelet != nil {
		c, f := p.load(a.kubelet)
		// A kubelet whose own certificate is missing or has expired joins again (k8s.io/kubernetes, pkg/kubelet/certificate/bootstrap).
		if c != nil || a.bootstrap == nil || f.Cause != "missing" && f.Cause != "expired" {
			return c, f
		}
	}
	if a.bootstrap != nil {
		c, f := p.load(a.bootstrap)
		if c != nil {
			c.bootstrap = true
		}
		return c, f
	}
	return nil, skipped("this machine has no credential yet: only %s names its API server", a.server.File)
}

// load reads a kubeconfig's credential, and checks what can be checked without the server.
func (p *Patient) load(a *kubeletsetup.Access) (*credential, *Finding) {
	c := &credential{Access: a, what: a.Kind(), token: a.Token, pair: a.Certificate, key: a.Key}
	switch {
	case c.what == "":
		return nil, wrong("missing", "%s has no certificate, no token and no credential plug-in", a.File)
	case !a.Certificate.IsZero(), a.CertificateFile != "":
		if f := c.loadPair(p); f != nil {
			return nil, f
		}
		return c, nil
	case len(a.Plugin) > 0:
		return c, nil
	case a.TokenFile != "":
		content, err := p.Machine.ReadLinked(a.TokenFile, kubeletsetup.MaxKubeconfig)
		if err != nil {
			return nil, unreadable(c.what, err)
		}
		c.token = nodeconfig.NewSecret(strings.TrimSpace(string(content)))
	}
	if f := c.outdated(p); f != nil {
		return nil, f
	}
	return c, nil
}

// outdated is a token that has expired.
func (c *credential) outdated(p *Patient) *Finding {
	if until, is := tokenExpiry(c.token.Reveal()); is && !p.Now().Before(until) {
		return wrong("expired", "%s has expired at %s", c.what, stamp(until))
	}
	return nil
}

func unreadable(what string, err error) *Finding {
	switch {
	case missing(err):
		return wrong("missing", "%s does not exist", what)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return unknown("%s cannot be read: %s", what, reason(err))
	}
	return wrong("damaged", "%s cannot be read: %s", what, reason(err))
}

// loadPair reads a client certificate with its key, and checks both.
func (c *credential) loadPair(p *Patient) *Finding {
	for _, part := range []struct {
		file string
		into *nodeconfig.Secret
	}{{c.CertificateFile, &c.pair}, {c.KeyFile, &c.key}} {
		if !part.into.IsZero() || part.file == "" {
			continue
		}
		content, err := p.Machine.ReadLinked(part.file, kubeletsetup.MaxKubeconfig)
		if err != nil {
			return unreadable("the file "+part.file+" that "+c.File+" names", err)
		}
		*part.into = nodeconfig.NewSecret(string(content))
	}
	pair, err := tls.X509KeyPair([]byte(c.pair.Reveal()), []byte(c.key.Reveal()))
	if err != nil || pair.Leaf == nil {
		return wrong("damaged", "%s cannot be used with its key: %s", c.what, keyReason(c.pair.Reveal()))
	}
	c.leaf = pair.Leaf
	name := p.Kubelet().Node.Value
	owner, isNode := strings.CutPrefix(c.leaf.Subject.CommonName, tlsbootstrap.NodeUser)
	switch {
	case p.Now().After(c.leaf.NotAfter):
		return wrong("expired", "%s has expired at %s", c.what, stamp(c.leaf.NotAfter))
	case isNode && name != "" && owner != name:
		return wrong("other-node", "%s is of the Node %s, and this machine's Node is %s (%s)", c.what, shownName(owner), name, p.Kubelet().Node.From)
	}
	return nil
}

// keyReason is why a pair cannot be used. The error of crypto/tls can quote what is in the file.
func keyReason(pem string) string {
	if firstCertificate([]byte(pem)) == nil {
		return "it holds no certificate"
	}
	return "the key is missing, damaged or of another certificate"
}

// runPlugin gets a credential from a plug-in (k8s.io/client-go, pkg/apis/clientauthentication/v1).
func (c *credential) runPlugin(ctx context.Context, p *Patient) *Finding {
	argv := append([]string(nil), c.Plugin...)
	if strings.Contains(argv[0], "/") && !path.IsAbs(argv[0]) {
		argv[0] = path.Join(path.Dir(c.File), argv[0])
	}
	ctx, cancel := context.WithTimeout(ctx, p.Patience(credentialPatience))
	defer cancel()
	answer, err := p.Machine.RunPlugin(ctx, argv, c.PluginEnv)
	if err != nil {
		return wrong("plugin", "%s gives no credential: %s", c.what, err)
	}
	var got struct {
		Kind   string
		Status struct {
			Token, ClientCertificateData, ClientKeyData string
		}
	}
	if json.Unmarshal(answer, &got) != nil || got.Kind != "ExecCredential" || got.Status.Token == "" && got.Status.ClientCertificateData == "" {
		return wrong("plugin", "%s does not answer with a credential", c.what)
	}
	c.token = nodeconfig.NewSecret(got.Status.Token)
	c.pair, c.key = nodeconfig.NewSecret(got.Status.ClientCertificateData), nodeconfig.NewSecret(got.Status.ClientKeyData)
	return c.outdated(p)
}

// maxClaims limits the readable part of a JWT.
const maxClaims = 16 << 10

// tokenExpiry is when a JWT expires (RFC 7519, 4.1.4). is is false for other tokens.
func tokenExpiry(token string) (until time.Time, is bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(parts[1]) > maxClaims {
		return until, false
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	var got struct {
		Exp float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(claims, &got) != nil || got.Exp <= 0 || got.Exp > 1e11 {
		return until, false
	}
	return time.Unix(int64(got.Exp), 0), true
}

// judge judges the server's answer.
func (c *credential) judge(ctx context.Context, p *Patient, s *server, o *host.Outcome) *Finding {
	var remote *net.OpError
	if o.Failed != "" {
		if c.leaf != nil && errors.As(o.Err, &remote) && remote.Op == "remote error" {
			return wrong("refused-certificate", "the API server %s refuses %s, which %q has signed: %s", s.at(o), c.what, shownName(c.leaf.Issuer.CommonName), reason(o.Err))
		}
		return unknown("the API server %s did not answer a request with %s: %s", s.at(o), c.what, reason(o.Err))
	}
	switch {
	case o.Status == http.StatusUnauthorized, o.Status == http.StatusForbidden && bytes.Contains(o.Body, []byte(anonymous)):
		return c.refused(s, o)
	case o.Status == http.StatusForbidden && len(c.Plugin) > 0:
		if f := c.mapped(ctx, p, s); f != nil {
			return f
		}
	case o.Status >= 500:
		return unknown("the API server %s answers a request with %s with HTTP status %d", s.at(o), c.what, o.Status)
	}
	return fine("the API server accepts %s%s", c.what, c.lasts())
}

// lasts says whose the credential is, and until when it is valid.
func (c *credential) lasts() string {
	if c.leaf != nil {
		return fmt.Sprintf(", of %s, valid until %s", shownName(c.leaf.Subject.CommonName), stamp(c.leaf.NotAfter))
	}
	if until, is := tokenExpiry(c.token.Reveal()); is {
		return ", valid until " + stamp(until)
	}
	return ""
}

// anonymous is the user that an API server takes a client without a credential for. It is also the user of a client whose certificate
// another authority has signed: Go's client does not show a certificate that the server cannot know, and neither does the kubelet.
const anonymous = "system:anonymous"

// refused is a refusal (HTTP status 401), or an answer to system:anonymous (403).
func (c *credential) refused(s *server, o *host.Outcome) *Finding {
	as := ""
	if o.Status == http.StatusForbidden {
		as = ", and takes this machine for " + anonymous
	}
	says := func(cause string) *Finding {
		return wrong(cause, "the API server %s refuses %s (HTTP status %d)%s%s", s.at(o), c.what, o.Status, c.lasts(), as)
	}
	switch {
	case c.leaf != nil:
		return says("refused-certificate")
	case len(c.Plugin) > 0:
		return says("refused-identity")
	}
	return says("refused-token")
}

// mapped asks who the API server takes this machine for. Then an identity with another Node's name shows.
func (c *credential) mapped(ctx context.Context, p *Patient, s *server) *Finding {
	o := c.ask(ctx, p, s, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	var got struct {
		Status struct {
			UserInfo struct {
				Username string
				Groups   []string
			}
		}
	}
	if o.Failed != "" || o.Status/100 != 2 || json.Unmarshal(o.Body, &got) != nil {
		return nil
	}
	user, name := got.Status.UserInfo, p.Kubelet().Node.Value
	owner, isNode := strings.CutPrefix(user.Username, tlsbootstrap.NodeUser)
	switch {
	case isNode && owner != name:
		return wrong("other-name", "the API server takes this machine for the Node %s, and the kubelet's Node is %s (%s)", shownName(owner), name, p.Kubelet().Node.From)
	case !isNode:
		return wrong("no-node-rights", "the API server takes this machine for %s, which may not read the Node %s (HTTP status 403)", shownName(user.Username), name)
	}
	return nil
}

const (
	// approvalPatience is how long a request may wait: an approver answers within a second.
	approvalPatience = 15 * time.Second
	// maxRequests limits the list of requests.
	maxRequests = 8 << 20
	maxReason   = 200
)

// requestChecks are those of the request for the kubelet's certificate.
var requestChecks = []Check{{
	Name: "certificate-request", Asks: "Does the cluster answer the machine's request for a certificate?",
	Needs: []string{"credential"}, Live: true, Deadline: 2 * time.Second,
	Causes: []Cause{
		{"not-approved", "the request waits for approval", "approve it (`kubectl certificate approve NAME`), and let a controller approve requests: bind the bootstrap token's group to system:certificates.k8s.io:certificatesigningrequests:nodeclient, or start the cloud's approver"},
		{"denied", "the request was denied", "ask the approver why (`kubectl describe csr NAME`): some approve only machines that their cloud knows, by name and address"},
		{"not-signed", "the request is approved, and no signer answers", "look at the kube-controller-manager: its flags --cluster-signing-cert-file and --cluster-signing-key-file sign requests"},
		{"signer-failed", "the signer failed", "look at the kube-controller-manager's log: its CA, or the usages and the name in the request, do not pass"},
	},
	Look: lookRequest,
}}

func lookRequest(ctx context.Context, p *Patient) *Finding {
	answer := p.known.own.answer.Load()
	if answer == nil {
		return skipped("this machine has no credential to ask with")
	}
	if !answer.credential.bootstrap {
		return fine("the kubelet has its certificate, or another credential that lasts")
	}
	s := p.server()
	a := s.attempt(ctx, p, tlsbootstrap.RequestsPath+tlsbootstrap.RequestsOf)
	a.Token, a.Certificate, a.Key, a.Limit = answer.credential.token, answer.credential.pair, answer.credential.key, maxRequests
	o := p.Machine.Attempt(ctx, a)
	f := new(Finding).with("list the requests for kubelets' certificates", describe(o))
	name := p.Kubelet().Node.Value
	switch {
	case o.Failed != "":
		return f.unknown("the requests cannot be listed: %s", reason(o.Err))
	case o.Status != http.StatusOK:
		return f.fine("the bootstrap credential may not list the requests (HTTP status %d)", o.Status)
	}
	r, err := tlsbootstrap.Newest(o.Body, name)
	if err != nil {
		return f.unknown("the list of requests cannot be read: %s", err)
	}
	if r == nil {
		return f.fine("no request for the Node %s has reached the cluster yet", name)
	}
	return judgeRequest(f, r, p.Now().Sub(r.Created), p.Patience(approvalPatience))
}

func judgeRequest(f *Finding, r *tlsbootstrap.Listed, age, patience time.Duration) *Finding {
	name := redact.Line(r.Name, 80)
	since := fmt.Sprintf("since %s", stamp(r.Created))
	switch {
	case r.Refused != "" && r.Failed:
		return f.wrong("signer-failed", "the request %s %s", name, redact.Line(r.Refused, maxReason))
	case r.Refused != "":
		return f.wrong("denied", "the request %s %s", name, redact.Line(r.Refused, maxReason))
	case len(r.Certificate) > 0:
		return f.fine("the request %s has its certificate", name)
	case age < patience:
		return f.fine("the request %s waits %s", name, since)
	case r.Approved:
		return f.wrong("not-signed", "the request %s is approved, and not signed %s", name, since)
	}
	return f.wrong("not-approved", "the request %s waits for approval %s", name, since)
}
