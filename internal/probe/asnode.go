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

// questioner sends an API server one request as the node.
type questioner struct {
	*resource.AsNode
	read func(path string) ([]byte, error)
	// refused is the token that the server has refused.
	refused string
	// answered reports whether the server has answered the last attempt.
	answered bool
}

// asNode is a target that gets a request for a path as the node. judge is called with each answer, except a refusal of
// a token if there is also a certificate.
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
				return t.judgeStatus(a.status, address) // tried again with the certificate
			}
		}
		return judge(t, a, address)
	}
	return t, q, nil
}

// attempt sends the request once. If a server has accepted the request and sends nothing, there is no other attempt.
func (q *questioner) attempt(ctx context.Context, p *prober, t *target) *failure {
	q.answered = false
	f := p.attempt(ctx, t)
	if f != nil && f.step == asking && !q.answered {
		f.retry = false
	}
	return f
}

// prepare reads the credential, which may have appeared or changed since the last attempt.
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

// tokenIn returns the token of the only user in a kubeconfig, or "" if there is no usable one.
func tokenIn(kubeconfig []byte) string {
	token := onlyOf(kubeconfig, "users", "user").GetText("token")
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return token
}

// onlyOf returns the only entry of a list in a kubeconfig, or nil if it has none or several.
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

// The object in which a kubeadm cluster has the settings for the kubelets of all its nodes (k8s.io/kubernetes v1.36.3
// cmd/kubeadm/app/constants, KubeletBaseConfigurationConfigMap).
const (
	defaultsPath = "/api/v1/namespaces/kube-system/configmaps/kubelet-config"
	defaultsKey  = "kubelet"
	maxDefaults  = 256 << 10
	// defaultsPatience limits the server's answer, and the delay of the kubelet's start by an unreachable server.
	defaultsPatience = 3 * time.Second
	// networkPatience limits the delay of the kubelet's start while the machine has no network or no DNS server: then
	// the request cannot be sent, and the node cannot join either.
	networkPatience = 30 * time.Second
)

// FetchKubeletDefaults gets the KubeletConfiguration that a kubeadm cluster has for all its nodes. It tries an
// unreachable server again until ready is closed, and at least for defaultsPatience since the machine has a network. If
// a server has accepted the request, it is not sent again, unless the server answers that it is overloaded.
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

// patience limits the repetition of a request that delays the kubelet's start: defaultsPatience since the machine has a
// network, and networkPatience without one. A started attempt is not cut off.
type patience struct {
	// answer is how long the server may take.
	answer time.Duration
	now    func() time.Time
	// ready is closed when something waits. It is nil if awaited is set.
	ready <-chan struct{}
	// reached is when the machine first had a network, or zero. awaited is when something began to wait.
	reached, awaited time.Time
}

// tried records an attempt.
func (w *patience) tried(begin time.Time, f *failure) {
	switch {
	case f != nil && lacksNetwork(f):
		w.reached = time.Time{}
	case w.reached.IsZero():
		w.reached = begin
	}
}

// over reports whether no other attempt may follow.
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

// lacksNetwork reports whether an attempt failed on the machine: it has no address yet, or no DNS server answers.
func lacksNetwork(f *failure) bool {
	return f.Cause == resource.CauseDNS || f.step == connecting &&
		(errors.Is(f.Err, syscall.ENETUNREACH) || errors.Is(f.Err, syscall.ENETDOWN) || errors.Is(f.Err, syscall.EADDRNOTAVAIL))
}
