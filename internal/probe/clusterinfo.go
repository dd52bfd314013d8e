package probe

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The public object that shows how to reach a cluster, and its content: a kubeconfig without a credential, and a
// signature of it for each token (k8s.io/cluster-bootstrap, token/api).
const (
	clusterInfoPath  = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
	kubeconfigKey    = "kubeconfig"
	signaturePrefix  = "jws-kubeconfig-"
	maxClusterInfo   = 256 << 10
	maxShownIssuer   = 100
	signingAlgorithm = "HS256"
)

// FetchAuthority gets the CA of a server's cluster, in PEM, as kubeadm does (k8s.io/kubernetes,
// cmd/kubeadm/app/discovery/token). The first answer comes from an unverified server. It counts if it is signed with
// the token's secret, and if pins accepts a certificate of the CA in it. Then the request is repeated with that CA and
// must have the same answer. Until then no token is sent. A temporary refusal is tried again.
func (Cluster) FetchAuthority(ctx context.Context, server *resource.APIServer, pins func(bundle string) bool) (string, error) {
	return defaultProber.authority(ctx, server, pins)
}

func (p *prober) authority(ctx context.Context, server *resource.APIServer, pins func(bundle string) bool) (string, error) {
	ask := discovery{server: server, pins: pins}
	first, bundle, err := ask.by(ctx, p, "")
	if err != nil {
		return "", err
	}
	second, _, err := ask.by(ctx, p, bundle)
	var check *apply.CheckError
	switch {
	case errors.As(err, &check) && check.Cause == resource.CauseTLS:
		check.Err = fmt.Errorf("the server is not of the cluster that it shows: it has a certificate %s; %w", issuerOf(check.Err), check.Err)
		return "", err
	case err != nil:
		return "", err
	case first != second:
		return "", &apply.CheckError{Cause: resource.CauseDiscovery, Endpoint: server.Server, Err: errors.New("cluster-info is another one when the server is asked again, with the CA from the first answer")}
	}
	return bundle, nil
}

// issuerOf returns the issuer of the refused certificate.
func issuerOf(err error) string {
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(refused.UnverifiedCertificates) > 0 {
		return fmt.Sprintf("that %q has signed", redact.Line(refused.UnverifiedCertificates[0].Issuer.String(), maxShownIssuer))
	}
	return "that cannot be verified"
}

// discovery requests cluster-info.
type discovery struct {
	server *resource.APIServer
	pins   func(bundle string) bool
}

// by sends the request over a connection that a CA verifies, or an unverified one if authority is empty. It returns the
// cluster's kubeconfig and the CA in it, after verification.
func (d *discovery) by(ctx context.Context, p *prober, authority string) (kubeconfig, bundle string, err error) {
	t, err := addressed(d.server.Server, clusterInfoPath)
	if err != nil {
		return "", "", err
	}
	if t.unverified = authority == ""; !t.unverified {
		t.roots = x509.NewCertPool()
		t.roots.AppendCertsFromPEM([]byte(authority))
	}
	t.maxBody = maxClusterInfo + 1
	t.judge = func(t *target, a answer, address netip.AddrPort) *failure {
		refused := func(cause resource.Cause, retry bool, format string, args ...any) *failure {
			return t.failed(asking, cause, address, fmt.Errorf(format, args...)).retryIf(retry)
		}
		switch s := a.status; {
		case s >= 300 && s < 400:
			return refused(resource.CauseRedirect, false, "the server sends the node to another one (HTTP status %d), which is not asked", s)
		case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusNotFound:
			return refused(resource.CauseDiscovery, false, "the server does not show cluster-info (HTTP status %d)", s)
		case s != http.StatusOK:
			return t.judgeStatus(s, address)
		case len(a.body) > maxClusterInfo:
			return refused(resource.CauseDiscovery, false, "cluster-info has more than %d bytes", maxClusterInfo)
		}
		var info struct{ Data map[string]string }
		if err := json.Unmarshal(a.body, &info); err != nil || info.Data[kubeconfigKey] == "" {
			return refused(resource.CauseDiscovery, false, "the answer is no cluster-info with a kubeconfig")
		}
		kubeconfig = info.Data[kubeconfigKey]
		id, secret, _ := strings.Cut(d.server.Token.Reveal(), ".")
		signature := info.Data[signaturePrefix+id]
		switch {
		case signature == "":
			return refused(resource.CauseUnsigned, true, "cluster-info is not signed for the token %s", redact.Line(id, 8))
		case !signed(kubeconfig, signature, id, secret):
			return refused(resource.CauseUnsigned, true, "the signature of cluster-info is not that of the token %s", redact.Line(id, 8))
		}
		if bundle = authorityIn(kubeconfig); bundle == "" {
			return refused(resource.CauseDiscovery, false, "the kubeconfig in cluster-info does not hold one cluster with its CA")
		}
		if !d.pins(bundle) {
			return refused(resource.CausePin, false, "the CA of the cluster has no certificate with a pinned hash; its own are %s", strings.Join(hashesOf(bundle), ", "))
		}
		return nil
	}
	err = p.try(ctx, t)
	return kubeconfig, bundle, err
}

// signed reports whether a text has a valid signature of a token's secret: a JWS without its payload (RFC 7515,
// appendix F; k8s.io/cluster-bootstrap, token/jws).
func signed(text, signature, id, secret string) bool {
	encoded, sum, _ := strings.Cut(signature, "..")
	given, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil {
		return false
	}
	var header struct{ Alg, Kid string }
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(plain, &header) != nil || header.Alg != signingAlgorithm || header.Kid != id {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(encoded + "." + base64.RawURLEncoding.EncodeToString([]byte(text))))
	return hmac.Equal(mac.Sum(nil), given)
}

// authorityIn returns the CA in a kubeconfig of one cluster, in PEM and without anything else, or "".
func authorityIn(kubeconfig string) string {
	data, ok := onlyOf([]byte(kubeconfig), "clusters", "cluster").Get("certificate-authority-data")
	if !ok {
		return ""
	}
	given, err := base64.StdEncoding.DecodeString(data.Text)
	if err != nil {
		return ""
	}
	var bundle bytes.Buffer
	for _, c := range certificatesIn(given) {
		_ = pem.Encode(&bundle, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // writing to a buffer never fails
	}
	return bundle.String()
}

// certificatesIn returns the certificates in a PEM text, or nil if one is invalid.
func certificatesIn(bundle []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return all
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		all = append(all, c)
	}
}

// hashesOf are the hashes for pinning the certificates of a bundle.
func hashesOf(bundle string) []string {
	var all []string
	for _, c := range certificatesIn([]byte(bundle)) {
		all = append(all, nodeconfig.PinOf(c))
	}
	return all
}
