//go:build failpoint

package crash

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

const (
	nodeName = "node-1"
	// pairsDir is the kubelet's directory for certificates with their keys.
	pairsDir = "/var/lib/kubelet/pki"
	// ownPair is the time in the name of the pair that a node's kubelet requests itself.
	ownPair = "2026-01-02-00-00-00"
)

// issued represents a certificate and its key.
var issued = []byte("certificate for " + nodeName)

// serving represents the certificate that a kubelet signs for itself, and its key.
var serving = struct{ certificate, key []byte }{[]byte("serving certificate"), []byte("its key")}

// joining is a directory with an API server that issues every requested certificate.
type joining struct{ *host.Directory }

func (joining) NodeName() (string, error) { return nodeName, nil }

func (joining) SelfSign(*resource.ServingCertificate) (certificate, key []byte, err error) {
	return serving.certificate, serving.key, nil
}

func (joining) RequestCertificate(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
	return &apply.Issued{Pair: issued, Node: nodeName}, nil
}

// meanwhile does what the node's programs do between two runs: a running kubelet makes a serving certificate and joins if it has
// not, and the token that it no longer needs is removed (slipway-retire-credential.service).
func (n *node) meanwhile() {
	wanted := n.certificate()
	if wanted == nil {
		return
	}
	if now, err := snapshot(n.root); err != nil {
		panic(err)
	} else if m, err := now.machine(); err != nil || !m.active[wanted.Unit] {
		return
	}
	n.serve()
	if content, _ := os.ReadFile(n.root + wanted.Kubeconfig); len(content) == 0 {
		n.join(wanted)
	}
	for _, f := range n.temporary() {
		if !slices.ContainsFunc(f.Until, func(path string) bool { return !n.written(path) }) {
			_ = os.Remove(n.root + f.Path)
		}
	}
}

// temporary are the files that a node has only until its kubelet has joined.
func (s *scenario) temporary() []*resource.File {
	var list []*resource.File
	for _, r := range s.plan.Resources {
		if f, ok := r.Spec.(*resource.File); ok && f.Temporary() && !f.Stays {
			list = append(list, f)
		}
	}
	return list
}

// retires reports whether the node's programs may remove a file at any time.
func (s *scenario) retires(path string) bool {
	return s.joins && slices.ContainsFunc(s.temporary(), func(f *resource.File) bool { return f.Path == path })
}

// certificate is the one that the node's kubelet joins with. It is nil if the kubelet gets none.
func (s *scenario) certificate() *resource.Certificate {
	if !s.joins {
		return nil
	}
	for _, r := range s.plan.Resources {
		if c, ok := r.Spec.(*resource.Certificate); ok {
			return c
		}
	}
	return nil
}

// written reports whether a file, or the target of the node's link, has content.
func (n *node) written(path string) bool {
	target, err := os.Readlink(n.root + path)
	if err == nil {
		path = target
	}
	content, err := os.ReadFile(n.root + path)
	return err == nil && len(content) > 0
}

// join acts as a kubelet that requests its certificate itself.
func (n *node) join(wanted *resource.Certificate) {
	dir := n.root + wanted.Directory
	pair := path.Join(wanted.Directory, "kubelet-client-"+ownPair+".pem")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if tlsbootstrap.IsPairName(e.Name()) || e.Name() == tlsbootstrap.Current {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	for _, err := range []error{
		os.MkdirAll(dir, 0o755),
		os.WriteFile(n.root+pair, issued, 0o600),
		os.Symlink(pair, filepath.Join(dir, tlsbootstrap.Current)),
		os.WriteFile(n.root+wanted.Kubeconfig, []byte(wanted.KubeconfigContent), 0o600),
	} {
		if err != nil {
			panic(err)
		}
	}
}

// serve acts as a kubelet that makes a missing pair (client-go: util/cert, CanReadCertAndKey).
func (n *node) serve() {
	for _, r := range n.plan.Resources {
		c, ok := r.Spec.(*resource.ServingCertificate)
		if !ok || n.written(c.Certificate) || n.written(c.Key) {
			continue
		}
		for _, err := range []error{
			os.MkdirAll(filepath.Dir(n.root+c.Key), 0o755),
			os.WriteFile(n.root+c.Key, serving.key, 0o600),
			os.WriteFile(n.root+c.Certificate, serving.certificate, 0o644),
		} {
			if err != nil {
				panic(err)
			}
		}
	}
}

// samePair renames a tree's pair, whose name contains a time, to a constant name.
func (t tree) samePair() {
	link := path.Join(pairsDir, tlsbootstrap.Current)
	current, ok := t[link]
	if !ok || path.Dir(current.target) != pairsDir || !tlsbootstrap.IsPairName(path.Base(current.target)) {
		return
	}
	always := path.Join(pairsDir, tlsbootstrap.PairName(time.Time{}))
	if pair, ok := t[current.target]; ok {
		delete(t, current.target)
		t[always] = pair
	}
	current.target = always
	t[link] = current
}
