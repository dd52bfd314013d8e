package apply

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// roots are the directories below which a plan may have files, directories and links: where configuration,
// state and programs are (file-hierarchy(7)). Neither a contract nor a damaged record leads anywhere else,
// to the kernel's own file systems least of all.
var roots = []string{"/etc/", "/opt/", "/run/", "/usr/", "/var/lib/", "/var/log/"}

// own are paths below the roots that are Slipway's records of what it does, and no plan's.
var own = []string{LockPath, "/var/lib/slipway/"}

// allowed wants every path of the plan, and of what is stale, to be one that a plan may have.
func (r *run) allowed() error {
	var errs []error
	for _, list := range [][]resource.Resource{r.plan.Resources, r.Stale} {
		for _, res := range list {
			switch res.Spec.(type) {
			case *resource.File, *resource.Directory, *resource.Symlink:
				if why := refused(res.Spec.Name()); why != "" {
					errs = append(errs, failed(res, fmt.Errorf("%q is no place for a plan: %s", res.Spec.Name(), why)))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// refused says why a path may not be a plan's, or nothing.
func refused(name string) string {
	if !path.IsAbs(name) || path.Clean(name) != name || strings.ContainsRune(name, 0) {
		return "it is no absolute, clean path"
	}
	for _, o := range own {
		if name == o || name+"/" == o || strings.HasPrefix(name, o) && strings.HasSuffix(o, "/") {
			return "it is Slipway's own"
		}
	}
	for _, root := range roots {
		if strings.HasPrefix(name, root) {
			return ""
		}
	}
	return "want one below " + strings.Join(roots, ", ")
}
