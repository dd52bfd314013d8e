package lock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/versions"
)

// Serving is the part of a lock for one version of Kubernetes: "1.36", or with a patch "1.36.4". It has one kubelet, of this version, and all
// other components that serve the minor version.
func (l *Lock) Serving(version string) (*Lock, error) {
	parsed, ok := versions.Parse(version)
	dots := strings.Count(version, ".")
	if !ok || dots != 1 && dots != 2 {
		return nil, fmt.Errorf("%q is no version of Kubernetes: want one such as 1.36 or 1.36.4", version)
	}
	minor := fmt.Sprintf("%d.%d", parsed.Major, parsed.Minor)
	part := *l
	part.Components = nil
	var all, chosen []string
	for _, c := range l.Components {
		serves := len(c.Kubernetes) == 0 || slices.Contains(c.Kubernetes, minor)
		if c.Kind == kind.Kubelet {
			all = append(all, c.Version)
			if serves = serves && (dots == 1 || c.Version == version); serves {
				chosen = append(chosen, c.Version)
			}
		}
		if serves {
			part.Components = append(part.Components, c)
		}
	}
	switch len(chosen) {
	case 1:
		return &part, nil
	case 0:
		return nil, fmt.Errorf("the lock has no kubelet %s; it has %s", version, cli.List(all, "and"))
	}
	return nil, fmt.Errorf("the lock has the kubelets %s for %s: name one version", cli.List(chosen, "and"), version)
}
