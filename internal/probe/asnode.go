package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

// questioner asks an API server one question as the node.
type questioner struct {
	*resource.AsNode
	read func(path string) ([]byte, error)
	// refused is the token that the server has refused.
	refused string
	// answered says that the server has answered the last attempt.
	answered bool
}

// asNode is a target that is asked as the node for what is at a path. judge is called with each answer that is no refusal of a
// token for which there is a certificate.
func (p *prober) asNode(way *resource.AsNode, read func(path string) ([]byte, error), path string, limit int64, judge func(t *target, a answer, address netip.AddrPort) *failure) (*target, *questioner, error) {
	t, err := newTarget(&resource.APIServer{Server: way.Server, CertificateAuthority: way.CertificateAuthority}, path)
	if err != nil {
		return nil, nil, err
	}
	q := &questioner{AsNode: way, read: read}
	t.prepare, t.maxBody = q.prepare, limit+1
	t.judge = func(t *target, a answer, address netip.AddrPort) *failure {
		q.answered = true
		if a.status == http.StatusUnauthorized && t.token != "" {
			if _, _, err := firstPair(q.Credentials, q.read); err == nil {
				q.refused = t.token
				return t.judgeStatus(a.status, address) // which is tried again, with the certificate
			}
		}
		return judge(t, a, address)
	}
	return t, q, nil
}

// attempt asks once. A server that has taken the question and says nothing is not asked again.
func (q *questioner) attempt(ctx context.Context, p *prober, t *target) *failure {
	q.answered = false
	f := p.attempt(ctx, t)
	if f != nil && f.step == asking && !q.answered {
		f.retry = false
	}
	return f
}

// prepare reads the credential, which may be there at last, or be another one, since the attempt before.
func (q *questioner) prepare(t *target) *failure {
	t.certificate, t.token = nil, ""
	if q.Bootstrap != "" {
		data, err := q.read(q.Bootstrap)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileFailure(resource.CauseCredential, q.Bootstrap, err)
		}
		if t.token = tokenIn(data); t.token != "" && t.token != q.refused {
			return nil
		}
	}
	pair, file, err := firstPair(q.Credentials, q.read)
	switch {
	case err == nil:
		t.certificate, t.token = pair, ""
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fileFailure(resource.CauseMissing, file, errors.New("the node has no credential"))
	}
	return fileFailure(resource.CauseCredential, file, err)
}

// tokenIn is the token of the one user in a kubeconfig; empty for none, and for one that cannot be sent.
func tokenIn(kubeconfig []byte) string {
	token := onlyOf(kubeconfig, "users", "user").GetText("token")
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return token
}

// onlyOf is what a kubeconfig has in the one entry of a list; nil if it has none, or several.
func onlyOf(kubeconfig []byte, list, name string) *document.Node {
	tree, err := document.Parse(kubeconfig)
	if err != nil {
		return nil
	}
	entries, _ := tree.Get(list)
	if entries == nil || len(entries.Items) != 1 {
		return nil
	}
	entry, _ := entries.Items[0].Get(name)
	return entry
}

// Where a cluster of kubeadm has what it sets for the kubelets of all its nodes (k8s.io/kubernetes v1.36.3
// cmd/kubeadm/app/constants, KubeletBaseConfigurationConfigMap).
const (
	defaultsPath = "/api/v1/namespaces/kube-system/configmaps/kubelet-config"
	defaultsKey  = "kubelet"
	maxDefaults  = 256 << 10
	// defaultsPatience is how long the server may take to answer, and how long the kubelet's start waits for one that cannot be reached.
	defaultsPatience = 3 * time.Second
	// networkPatience is how long the kubelet's start waits at most while the machine has no network, or no name server: the server is
	// not asked then, and without it the node does not join.
	networkPatience = 30 * time.Second
)

// FetchKubeletDefaults gets the KubeletConfiguration that a cluster of kubeadm has for all its nodes. A server that cannot be
// reached is tried again until ready is closed, and for defaultsPatience at least since the machine has had a network. One that has
// taken the question is not asked twice, unless it says that it has no time.
func (c Cluster) FetchKubeletDefaults(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error) {
	p := *defaultProber
	p.firstDelay, p.maxDelay, p.attemptTimeout = certificateDelay, maxCertificateDelay, defaultsPatience
	return p.kubeletDefaults(ctx, way, credentialsIn(c.Files), ready)
}

func (p *prober) kubeletDefaults(ctx context.Context, way *resource.AsNode, read func(path string) ([]byte, error), ready <-chan struct{}) ([]byte, error) {
	var text string
	t, q, err := p.asNode(way, read, defaultsPath, maxDefaults, func(t *target, a answer, address netip.AddrPort) *failure {
		refused := func(cause resource.Cause, reason string) *failure {
			return t.failed(asking, cause, address, errors.New(reason)).retryIf(false)
		}
		var got struct {
			Kind string
			Data map[string]string
		}
		switch {
		case a.status == http.StatusUnauthorized:
			return refused(resource.CauseCredential, "the server refuses the node's credential (HTTP status 401)")
		case a.status == http.StatusForbidden:
			return refused(resource.CauseForbidden, "the node's credential may not read it (HTTP status 403)")
		case a.status == http.StatusNotFound:
			return refused(resource.CauseMissing, "the cluster has none (HTTP status 404)")
		case mayPass(a.status):
			return t.judgeStatus(a.status, address)
		case a.status != http.StatusOK:
			return refused(resource.CauseConnection, fmt.Sprintf("the server answers with HTTP status %d", a.status))
		case len(a.body) > maxDefaults:
			return refused(resource.CauseContent, fmt.Sprintf("the ConfigMap has more than %d bytes", maxDefaults))
		case json.Unmarshal(a.body, &got) != nil || got.Kind != "ConfigMap" || got.Data[defaultsKey] == "":
			return refused(resource.CauseContent, "the answer is no ConfigMap with the key "+defaultsKey)
		}
		text = got.Data[defaultsKey]
		return nil
	})
	if err != nil {
		return nil, err
	}
	wait := &patience{answer: defaultsPatience, now: p.now, ready: ready}
	err = p.repeat(ctx, func(ctx context.Context) *failure {
		begin := p.now()
		f := q.attempt(ctx, p, t)
		wait.tried(begin, f)
		return f
	}, func(ctx context.Context, d time.Duration) bool { return !wait.over() && poll.Sleep(ctx, d) })
	if err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// patience says how long a question is repeated that the kubelet's start waits for: as long as the server may take since the machine
// has had a network, and networkPatience without one. An attempt that has begun is not cut off.
type patience struct {
	// answer is how long the server may take.
	answer time.Duration
	now    func() time.Time
	// ready is closed when something waits; nil where awaited is set.
	ready <-chan struct{}
	// reached is when the machine first had a network, zero without one. awaited is when something began to wait.
	reached, awaited time.Time
}

// tried takes note of an attempt.
func (w *patience) tried(begin time.Time, f *failure) {
	switch {
	case f != nil && lacksNetwork(f):
		w.reached = time.Time{}
	case w.reached.IsZero():
		w.reached = begin
	}
}

// over reports whether there is to be no other attempt.
func (w *patience) over() bool {
	if w.awaited.IsZero() {
		select {
		case <-w.ready:
			w.awaited = w.now()
		default:
			return false
		}
	}
	if w.reached.IsZero() {
		return w.now().Sub(w.awaited) >= networkPatience
	}
	return w.now().Sub(w.reached) >= w.answer
}

// lacksNetwork reports whether an attempt has not left the machine: it has no address yet, or no name server that answers.
func lacksNetwork(f *failure) bool {
	return f.Cause == resource.CauseDNS || f.step == connecting &&
		(errors.Is(f.Err, syscall.ENETUNREACH) || errors.Is(f.Err, syscall.ENETDOWN) || errors.Is(f.Err, syscall.EADDRNOTAVAIL))
}
