package apply

import (
	"errors"
	"path"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// Writable wants all that Apply would write to be on file systems that can be written to. It changes nothing, and looks
// at a resource only where its file system is read-only: one that is as planned may be there.
func (e *Engine) Writable(plan resource.Plan) error {
	r := &run{Engine: e, plan: plan}
	if err := e.Host.Writable(state.Dir); err != nil {
		return err
	}
	return r.writable(plan.Resources, func(res resource.Resource) bool {
		action, err := diskKinds[res.Spec.Kind()].compare(r, res.Spec)
		return action != "" || err != nil
	})
}

// writable wants the places of all resources that change to be writable; each that is not is reported once.
func (r *run) writable(resources []resource.Resource, changes func(resource.Resource) bool) error {
	var errs []error
	seen := make(map[string]bool)
	for _, res := range resources {
		if !resource.OnDisk(res.Spec) {
			continue
		}
		dir := path.Dir(res.Spec.Paths()[0])
		if _, ok := res.Spec.(*resource.Directory); ok {
			dir = res.Spec.Name() // something may be mounted there
		}
		if seen[dir] {
			continue
		}
		err := r.Host.Writable(dir)
		if err == nil {
			seen[dir] = true
		} else if changes(res) {
			seen[dir] = true
			errs = append(errs, failed(res, err))
		}
	}
	return errors.Join(errs...)
}
