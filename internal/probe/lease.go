package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	// leasePath is the path of the kubelets' leases (Kubernetes: nodes, heartbeats).
	leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"
	// maxLease limits a lease, which has about a kilobyte.
	maxLease = 256 << 10
	// maxCredential limits a file with a certificate or a key.
	maxCredential = 1 << 20
)

// nodeName matches a Node's name (Kubernetes: object names, DNS subdomain names).
var nodeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`) })

// lease is an awaited lease.
type lease struct {
	*resource.LeaseRenewed
	read  func(path string) ([]byte, error)
	since time.Time
	node  string
	first time.Time // the renewal time at the first look
}

// probeLease waits until a Node's lease is renewed, a permanent problem is found, or ctx is done.
func (p *prober) probeLease(ctx context.Context, wanted *resource.LeaseRenewed, read func(path string) ([]byte, error)) error {
	t, l, err := asKubelet(wanted, read, leasePath)
	if err != nil {
		return err
	}
	if l.since.IsZero() {
		l.since = time.Now()
	}
	t.judge, t.maxBody = l.judge, maxLease
	return p.try(ctx, t)
}

// asKubelet is a target that gets a request with the kubelet's certificate, for a path that ends in the Node's name.
func asKubelet(wanted *resource.LeaseRenewed, read func(path string) ([]byte, error), path string) (*target, *lease, error) {
	t, err := newTarget(&resource.APIServer{Server: wanted.Server, CertificateAuthority: wanted.CertificateAuthority}, path)
	if err != nil {
		return nil, nil, err
	}
	l := &lease{LeaseRenewed: wanted, read: read, since: wanted.Since}
	base := t.url.Path
	t.prepare = func(t *target) *failure {
		f := l.prepare(t)
		t.url.Path = base + l.node
		return f
	}
	return t, l, nil
}

// prepare reads the credential, which may have appeared or been renewed since the last attempt, and the Node that it
// belongs to.
func (l *lease) prepare(t *target) *failure {
	pair, file, err := firstPair(l.Credentials, l.read)
	if errors.Is(err, fs.ErrNotExist) {
		return fileFailure(resource.CauseMissing, file, errors.New("the kubelet has no client certificate: the node has not joined"))
	}
	if err != nil {
		return fileFailure(resource.CauseCredential, file, err)
	}
	t.certificate = pair
	if l.node, err = l.name(pair); err != nil {
		return fileFailure(resource.CauseCredential, file, err)
	}
	return nil
}

func fileFailure(cause resource.Cause, file string, err error) *failure {
	return &failure{apply.CheckError{Cause: cause, Endpoint: file, Err: err}, resolving, true}
}

// firstPair reads the first existing client certificate, and returns its path.
func firstPair(pairs []resource.KeyPair, read func(path string) ([]byte, error)) (pair *tls.Certificate, file string, err error) {
	err = fs.ErrNotExist
	for _, c := range pairs {
		var certificate, key []byte
		file = c.Certificate
		if certificate, err = read(c.Certificate); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		key = certificate
		if err == nil && c.Key != "" {
			key, err = read(c.Key)
		}
		if err != nil {
			return nil, file, err
		}
		made, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, file, fmt.Errorf("holds no certificate with its key: %w", err)
		}
		return &made, file, nil
	}
	if len(pairs) > 0 {
		file = pairs[0].Certificate
	}
	return nil, file, err
}

// name returns the Node's name: the configured one, or else the certificate's. The kubelet, which requested the
// certificate, uses the host's name, in lower case.
func (l *lease) name(pair *tls.Certificate) (string, error) {
	name := l.Node
	if name == "" && pair.Leaf != nil {
		name, _ = strings.CutPrefix(pair.Leaf.Subject.CommonName, tlsbootstrap.NodeUser)
		if name == pair.Leaf.Subject.CommonName {
			name = ""
		}
	}
	return nameOr(name, hostName)
}

// NodeName is the name of this machine's Node, if the contract has none.
func (Cluster) NodeName() (string, error) { return hostName() }

// hostName is the name that a kubelet gives its Node if its settings have none: the host's, in lower case (Kubernetes:
// nodeutil.GetHostname).
func hostName() (string, error) {
	host, err := os.Hostname()
	return strings.ToLower(strings.TrimSpace(host)), err
}

// nameOr returns a Node's name, or the host's if it is empty. An invalid Node name is an error.
func nameOr(name string, host func() (string, error)) (string, error) {
	if name == "" {
		var err error
		if name, err = host(); err != nil {
			return "", err
		}
	}
	if !nodeName().MatchString(name) {
		return "", fmt.Errorf("%q is not a Node name", redact.Line(name, 80))
	}
	return name, nil
}

// judge evaluates an answer about the lease.
func (l *lease) judge(t *target, a answer, address netip.AddrPort) *failure {
	fail := func(cause resource.Cause, format string, args ...any) *failure {
		return t.failed(asking, cause, address, fmt.Errorf(format, args...))
	}
	switch a.status {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		if leaf := t.certificate.Leaf; leaf != nil && time.Now().After(leaf.NotAfter) {
			return fail(resource.CauseCredential, "the kubelet's client certificate expired at %s (HTTP status %d)",
				leaf.NotAfter.UTC().Format(time.RFC3339), a.status)
		}
		return fail(resource.CauseCredential, "the server refuses the kubelet's client certificate for the lease of node %s (HTTP status %d)", l.node, a.status)
	case http.StatusNotFound:
		return fail(resource.CauseUnhealthy, "node %s has no lease: its kubelet has not registered it", l.node)
	default:
		return t.judgeStatus(a.status, address)
	}
	var got struct {
		Kind string
		Spec struct{ RenewTime time.Time }
	}
	if err := json.Unmarshal(a.body, &got); err != nil || got.Kind != "Lease" {
		return fail(resource.CauseConnection, "the server's answer is not a lease: another server may answer in its place").retryIf(false)
	}
	renewed := got.Spec.RenewTime
	if renewed.IsZero() {
		return fail(resource.CauseUnhealthy, "the lease of node %s was never renewed", l.node)
	}
	if l.first.IsZero() {
		l.first = renewed
	}
	// A lease has a precision of microseconds. If it changes between two looks, it is renewed, whatever the clock
	// shows, because that may be set meanwhile.
	if !renewed.Before(l.since.Truncate(time.Microsecond)) || !renewed.Equal(l.first) {
		return nil
	}
	return fail(resource.CauseUnhealthy, "the lease of node %s was last renewed at %s, and not since %s: its kubelet does not reach the API server",
		l.node, renewed.UTC().Format(time.RFC3339), l.since.UTC().Format(time.RFC3339))
}
