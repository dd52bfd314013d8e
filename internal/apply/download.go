package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/resource"
)

// downloaders is how many components are downloaded at a time.
const downloaders = 4

// Origin is a component's source.
type Origin struct {
	// From is the source's location, without its secrets.
	From string `json:"from"`
	// SHA256 is the digest of the downloaded file. Checked reports whether the expected digest was known in advance.
	SHA256  string `json:"sha256"`
	Checked bool   `json:"checked,omitempty"`
	Bytes   int64  `json:"bytes"`
}

// Stored is the record in a component's store, the file resource.OriginFile.
type Stored struct {
	Origin
	// Sizes are the sizes of its files, in bytes, and Digests their SHA-256 digests, in hexadecimal, by name.
	Sizes   map[string]int64  `json:"sizes"`
	Digests map[string]string `json:"digests,omitempty"`
}

// String formats the origin for a person.
func (o *Origin) String() string {
	known := "as expected"
	if !o.Checked {
		known = "nothing says which it had to be"
	}
	return fmt.Sprintf("from %s, %d bytes, sha256 %s: %s", o.From, o.Bytes, o.SHA256, known)
}

// downloads brings the plan's components to their stores, several at a time, before the engine compares what refers to
// them. If a download fails, nothing on the machine has changed.
func (r *run) downloads(ctx context.Context) error {
	nodes := r.downloadNodes()
	failures := make([]error, len(nodes))
	limit := downloaders
	if r.Sequential {
		limit = 1
	}
	if len(nodes) == 0 {
		return nil
	}
	parallel.Each(len(nodes), limit, func(i int) {
		failures[i] = r.guarded(string(nodes[i].ID()), func() error { return r.download(ctx, nodes[i]) })
		if failures[i] != nil {
			failures[i] = failed(nodes[i].Resource, failures[i])
		}
	})
	return errors.Join(failures...)
}

// download downloads one component.
func (r *run) download(ctx context.Context, n *node) error {
	if err := n.Spec.Valid(); err != nil {
		return err
	}
	action, err := r.needs(ctx, n)
	switch {
	case err != nil:
		return err
	case action == "":
		r.unchanged()
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("stopped before it was brought: %w", stopCause(ctx))
	}
	return liveKinds[n.Spec.Kind()].bring(r, ctx, n, action)
}

// previewDownloads reports what would be downloaded.
func (r *run) previewDownloads(ctx context.Context) error {
	var errs []error
	for _, n := range r.downloadNodes() {
		action, err := r.needs(ctx, n)
		errs = appendFailure(errs, n.Resource, err)
		if action != "" {
			r.changed(n.ID(), action)
		}
	}
	return errors.Join(errs...)
}

// downloadNodes are the plan's components.
func (r *run) downloadNodes() (nodes []*node) {
	for _, res := range r.plan.Resources {
		if _, ok := res.Spec.(*resource.Download); ok {
			nodes = append(nodes, &node{Resource: res, planned: true})
		}
	}
	return nodes
}

// compareDownload reports the origin of a component that is already in its store, because a reader of the status may
// not know the run that downloaded it.
func compareDownload(r *run, _ context.Context, n *node) (Action, error) {
	origin, err := r.Host.Downloaded(n.Spec.(*resource.Download))
	switch {
	case err != nil:
		return "", err
	case origin == nil:
		return r.wanted(n.Spec.(*resource.Download))
	}
	now := r.Now()
	r.record(func(rep *Report) {
		rep.Steps = append(rep.Steps, Step{Name: string(n.ID()), Start: now, Detail: "was there: " + origin.String()})
	})
	return "", nil
}

// wanted reports whether a component that is not in its store must be downloaded. It is not needed if only copies use
// it and another program's file is at each copy's path, because such files stay (copy.go).
func (r *run) wanted(d *resource.Download) (Action, error) {
	action := Downloaded
	for _, res := range r.plan.Resources {
		c, isCopy := res.Spec.(*resource.Copy)
		if !isCopy || c.Optional || !strings.HasPrefix(c.Source, d.Store()+"/") {
			continue
		}
		if missing, err := r.compareCopy(c); missing != "" || err != nil {
			return Downloaded, err
		}
		action = ""
	}
	if action == "" {
		r.absent(d.Store())
	}
	return action, nil
}

func bringDownload(r *run, ctx context.Context, n *node, action Action) error {
	start, name := r.Now(), n.Spec.Name()
	r.awaited.begin(name, start)
	origin, err := r.Host.Download(ctx, n.Spec.(*resource.Download), func(how string) { r.awaited.progress(name, how) })
	r.awaited.end(name)
	step := Step{Name: string(n.ID()), Start: start, Duration: r.Now().Sub(start)}
	switch {
	case errors.Is(err, ErrNotProbed):
		r.skipped(n.ID())
		r.absent(n.Spec.(*resource.Download).Store())
		return nil
	case err == nil:
		step.Detail = origin.String()
		r.Log.Info("a component has come", "component", name, "origin", step.Detail)
		r.changed(n.ID(), action)
	}
	r.record(func(rep *Report) { rep.Steps = append(rep.Steps, step) })
	return err
}

// absent records that a store stays empty, because nothing of it is needed, or because the host is a directory that
// downloads nothing.
func (r *run) absent(store string) {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	r.outcome.absent = append(r.outcome.absent, store+"/")
}
