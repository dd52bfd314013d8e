package apply

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Issued is a client certificate with its key, as issued by an API server.
type Issued struct {
	// Pair is the content of the file in which a kubelet keeps both.
	Pair []byte
	// Node is the name of the certificate's Node.
	Node string
	// Steps are the parts of the way there.
	Steps []Step
}

func compareCertificate(r *run, ctx context.Context, n *node) (Action, error) {
	asks, err := r.asks(ctx, n.Spec.(*resource.Certificate))
	if !asks || err != nil {
		return "", err
	}
	return Created, nil
}

// asks reports whether the agent requests a certificate. A node with a kubeconfig has joined, and a running kubelet
// joins by itself: two of them must not request one. A recorded plan has no token. With an error, the result may be
// true.
func (r *run) asks(ctx context.Context, c *resource.Certificate) (bool, error) {
	if token := c.APIServer.Token; token.IsZero() || token.Reveal() == nodeconfig.Redacted {
		return false, nil
	}
	if joined, err := r.written(c.Kubeconfig); joined || err != nil {
		return false, err
	}
	return r.startsLater(ctx, c, c.Unit)
}

// startsLater reports whether a unit neither runs nor is being started, and this run starts it after a resource. A
// command of the author's that starts the unit runs once. With an error, the result may be true.
func (r *run) startsLater(ctx context.Context, after resource.Spec, unit string) (bool, error) {
	id := resource.IDOf(after)
	for _, res := range r.plan.Resources {
		c, ok := res.Spec.(*resource.Command)
		if !ok || c.Once == "" || !slices.Contains(res.After, id) {
			continue
		}
		if names, err := r.ranOnce(); err != nil || slices.Contains(names, c.Once) {
			return err != nil, err
		}
	}
	return r.isIdle(ctx, unit)
}

// idleUnits are the answers of systemd in this run. Each unit is asked about once: during boot an answer takes as long
// as all writes of the run. If the kubelet starts later, [compareUnit] sees it before the agent starts it.
type idleUnits struct {
	mu    sync.Mutex
	known map[string]bool
}

// isIdle reports whether a unit neither runs nor is being started. With an error, the result may be true.
func (r *run) isIdle(ctx context.Context, unit string) (bool, error) {
	r.idle.mu.Lock()
	defer r.idle.mu.Unlock()
	idle, known := r.idle.known[unit]
	if known {
		return idle, nil
	}
	state, err := r.Host.UnitState(ctx, unit)
	if err != nil {
		return true, err
	}
	if r.idle.known == nil {
		r.idle.known = make(map[string]bool)
	}
	r.idle.known[unit] = !state.Running() && !state.Starting
	return r.idle.known[unit], nil
}

// namePairs chooses the file names of certificates. They are not compared. They are in the record of the intent,
// because an apply that dies after it has staged one leaves a key on the disk.
func (r *run) namePairs(ctx context.Context) error {
	for _, res := range r.plan.Resources {
		names, err := r.pairNames(ctx, res.Spec)
		if err != nil { // a later user of systemd reports that it does not answer
			return failed(res, err)
		}
		r.pairs = append(r.pairs, names...)
	}
	return nil
}

// pairNames are the names for one resource. The list is empty if the resource has no pair to write.
func (r *run) pairNames(ctx context.Context, spec resource.Spec) ([]string, error) {
	switch c := spec.(type) {
	case *resource.Certificate:
		if asks, err := r.asks(ctx, c); !asks {
			return nil, err
		}
		link, pair, _, err := r.pairOf(c)
		return []string{link, pair, c.Kubeconfig}, err
	case *resource.ServingCertificate:
		if lacks, _, err := r.lacksServing(ctx, c); !lacks {
			return nil, err
		}
		return []string{c.Key, c.Certificate}, nil
	}
	return nil, nil
}

// pairOf is the file of a certificate with its key: the target of the kubelet's link, or, without a link, a file named
// after the time, as the kubelet names its files.
func (r *run) pairOf(c *resource.Certificate) (link, pair string, linked bool, err error) {
	link = path.Join(c.Directory, tlsbootstrap.Current)
	have, err := r.Host.Stat(link)
	if have.Kind == Symlink && path.Dir(have.Target) == c.Directory && tlsbootstrap.IsPairName(path.Base(have.Target)) {
		return link, have.Target, true, err
	}
	return link, path.Join(c.Directory, tlsbootstrap.PairName(r.began)), false, err
}

// bringCertificate requests the certificate and writes it. The kubeconfig, which makes the kubelet count as joined, is
// written just before the kubelet starts: until then the host may get another name.
func bringCertificate(r *run, ctx context.Context, n *node, _ Action) error {
	c := n.Spec.(*resource.Certificate)
	return r.step(string(n.ID()), func() error {
		issued, err := r.Host.RequestCertificate(ctx, c, r.ready(n))
		if issued != nil {
			r.record(func(rep *Report) { rep.Steps = append(rep.Steps, issued.Steps...) })
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrNotProbed):
			r.skipped(n.ID())
			return nil
		case !hasOwnCode(c, err):
			// The check of the API server reports the cause.
			r.Log.Info("no certificate yet; the kubelet asks for it", "error", err)
			r.skipped(n.ID())
			return nil
		default:
			return err
		}
		written, err := r.writePair(c, issued.Pair)
		if err != nil {
			return err
		}
		n.last = func() error { return r.writeKubeconfig(n, issued.Node, written) }
		return nil
	})
}

// hasOwnCode reports whether the kubelet would meet the same failure, so that its cause and exit code are known.
func hasOwnCode(c *resource.Certificate, err error) bool {
	var cause *CheckError
	if !errors.As(err, &cause) {
		return false
	}
	_, ok := c.ExitCodes[cause.Cause]
	return ok
}

// ready is closed when a start that comes after a node waits for nothing but that node.
func (r *run) ready(n *node) <-chan struct{} {
	ready := make(chan struct{})
	var others []*node
	for _, other := range r.order {
		if other.mayStart() && slices.Contains(other.after, n) {
			others = append(append(others, other.requires...), other.after...)
		}
	}
	go func() {
		for _, other := range others {
			if other != n {
				<-other.done
			}
		}
		close(ready)
	}()
	return ready
}

// writePair writes the certificate and its key at the kubelet's path: the link first, so that a run that dies then
// leaves no key in a file that later runs do not find. A later run writes to the link's target.
func (r *run) writePair(c *resource.Certificate, content []byte) (string, error) {
	link, pair, linked, err := r.pairOf(c)
	if err != nil {
		return "", err
	}
	if !linked {
		if err := r.Host.MakeSymlink(&resource.Symlink{Path: link, Target: pair}); err != nil {
			return "", err
		}
		if err := r.Host.Sync(); err != nil {
			return "", err
		}
	}
	return pair, r.writeOwn(&resource.File{Path: pair, Mode: 0o600, Content: content, Secret: true})
}

// writeKubeconfig marks the kubelet as joined, if the certificate is still for the kubelet's Node.
func (r *run) writeKubeconfig(n *node, node, pair string) error {
	c := n.Spec.(*resource.Certificate)
	if c.Node == "" {
		name, err := r.Host.NodeName()
		if err != nil {
			return err
		}
		if name != node {
			r.Log.Warn("the host has got another name; the kubelet asks for its certificate again", "name", name, "certificate", node)
			return errors.Join(r.Host.Remove(pair), r.Host.Remove(path.Join(c.Directory, tlsbootstrap.Current)), r.Host.Sync())
		}
	}
	return r.step("kubeconfig", func() error {
		err := r.writeOwn(&resource.File{Path: c.Kubeconfig, Mode: 0o600, Content: []byte(c.KubeconfigContent)})
		if err == nil {
			r.changed(n.ID(), Created)
		}
		return err
	})
}

// writeOwn writes files that are in no plan, in the given order, durably.
func (r *run) writeOwn(files ...*resource.File) error {
	for i, file := range files {
		if err := r.Host.Stage(file); err != nil {
			return errors.Join(err, r.withdraw(files[:i]))
		}
	}
	for i, file := range files {
		if err := r.Host.Commit(file.Path); err != nil {
			return errors.Join(err, r.withdraw(files[i:]))
		}
	}
	return r.Host.Sync()
}

// withdraw removes those of the files that are staged.
func (r *run) withdraw(files []*resource.File) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, r.Host.Unstage(file.Path))
	}
	return errors.Join(errs...)
}
