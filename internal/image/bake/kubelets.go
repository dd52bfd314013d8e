package bake

import (
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/versions"
)

// usualKubelet is where people and programs look for the kubelet: where the kind has it.
var usualKubelet = kind.Named(kind.Kubelet).Files[0].Path

// kubelets lists the kubelets of the tree in the result. If there is one, and it is at another path than the usual one, a link at the
// usual path leads to it. change makes or removes the link. It is nil if the link is right.
func (b *baking) kubelets() (change func() error, err error) {
	for _, at := range slices.Sorted(maps.Keys(b.wanted)) {
		if f := b.wanted[at]; f.component.Kind == kind.Kubelet && programOf(f) != "" {
			b.result.Kubelets = append(b.result.Kubelets, Kubelet{f.component.Version, at, f.Size})
		}
	}
	slices.SortStableFunc(b.result.Kubelets, func(x, y Kubelet) int { return versions.CompareNumbers(x.Version, y.Version) })
	if _, is := b.wanted[usualKubelet]; is {
		return nil, nil
	}
	entry, err := b.Stat(usualKubelet)
	if err != nil {
		return nil, err
	}
	_, leadsToOlder := b.brought[entry.Target]
	_, leadsToOurs := b.wanted[entry.Target]
	ours := entry.Kind == apply.Symlink && (leadsToOlder || leadsToOurs)
	if len(b.result.Kubelets) != 1 {
		if ours {
			return func() error {
				b.result.Removed = append(b.result.Removed, usualKubelet)
				return b.Remove(usualKubelet)
			}, nil
		}
		return nil, nil
	}
	only := b.result.Kubelets[0].Path
	// The lock of before may have brought a program at this path, which is removed before the link is made.
	_, replaced := b.brought[usualKubelet]
	replaced = replaced && !slices.Contains(b.result.Kept, usualKubelet)
	switch {
	case entry.Kind == apply.Symlink && entry.Target == only:
		b.result.Link = usualKubelet
		return nil, nil
	case entry.Kind != apply.Absent && !ours && !replaced:
		return nil, fmt.Errorf("the tree has a %s that the lock did not bring, where the link to %s belongs: remove it from the image", usualKubelet, only)
	}
	b.result.Link = usualKubelet
	return func() error {
		b.result.Written = append(b.result.Written, usualKubelet)
		return b.MakeSymlink(&resource.Symlink{Path: usualKubelet, Target: only})
	}, nil
}
