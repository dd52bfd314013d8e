package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// mounts makes the machine's mounts as planned, before the engine compares what may be below one of them. Stale mounts
// are removed first, because a planned mount may replace one. This needs no record, because the next run finds what is
// mounted.
func (r *run) mounts(ctx context.Context) error {
	var errs []error
	for _, n := range r.mountNodes() {
		action, err := r.needs(ctx, n)
		if err == nil && action != "" {
			err = liveKinds[n.Spec.Kind()].bring(r, ctx, n, action)
		} else if err == nil && n.planned {
			r.unchanged()
		}
		errs = appendFailure(errs, n.Resource, err)
	}
	return errors.Join(errs...)
}

// previewMounts reports what mounts would do. The content below a missing mount is compared as it is without the mount.
func (r *run) previewMounts(ctx context.Context) error {
	var errs []error
	for _, n := range r.mountNodes() {
		action, err := r.needs(ctx, n)
		errs = appendFailure(errs, n.Resource, err)
		if action != "" {
			r.changed(n.ID(), action)
		}
	}
	return errors.Join(errs...)
}

// mountNodes are the mounts of the plan, outer ones first, after the stale ones, inner ones first.
func (r *run) mountNodes() []*node {
	var stale, planned []*node
	for _, res := range r.dropped() {
		if _, ok := res.Spec.(*resource.Mount); ok {
			stale = append(stale, &node{Resource: res, stale: true})
		}
	}
	for _, res := range r.plan.Resources {
		if _, ok := res.Spec.(*resource.Mount); ok {
			planned = append(planned, &node{Resource: res, planned: true})
		}
	}
	slices.SortFunc(stale, func(a, b *node) int { return cmp.Compare(b.Spec.Name(), a.Spec.Name()) })
	slices.SortFunc(planned, func(a, b *node) int { return cmp.Compare(a.Spec.Name(), b.Spec.Name()) })
	return append(stale, planned...)
}

func compareMount(r *run, _ context.Context, n *node) (Action, error) {
	mounted, err := r.Host.Mounted(n.Spec.(*resource.Mount))
	if mounted || err != nil {
		return "", err
	}
	return Mounted, nil
}

func undoMount(r *run, _ context.Context, n *node) (Action, error) {
	mounted, err := r.Host.Mounted(n.Spec.(*resource.Mount))
	if !mounted || err != nil {
		return "", err
	}
	return Unmounted, nil
}

func bringMount(r *run, ctx context.Context, n *node, action Action) error {
	do := r.Host.Mount
	if action == Unmounted {
		do = r.Host.Unmount
	}
	return r.does(n, action, func() error { return do(ctx, n.Spec.(*resource.Mount)) })
}

func compareSwap(r *run, _ context.Context, n *node) (Action, error) {
	swapping, err := r.Host.Swapping(n.Spec.(*resource.Swap))
	if swapping || err != nil {
		return "", err
	}
	return Created, nil
}

// undoSwap also removes a swap file that is not in use.
func undoSwap(r *run, _ context.Context, n *node) (Action, error) {
	there, err := r.Host.SwapFile(n.Spec.(*resource.Swap))
	if !there || err != nil {
		return "", err
	}
	return Removed, nil
}

func bringSwap(r *run, ctx context.Context, n *node, action Action) error {
	do := r.Host.MakeSwap
	if action == Removed {
		do = r.Host.RemoveSwap
	}
	return r.does(n, action, func() error { return do(ctx, n.Spec.(*resource.Swap)) })
}
