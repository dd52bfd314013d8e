package apply

import (
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// stage creates directories, and every file under its temporary name.
func (r *run) stage() error {
	var errs []error
	for _, d := range r.wrong {
		switch spec := d.Spec.(type) {
		case *resource.Directory:
			errs = appendFailure(errs, d.Resource, r.Host.MakeDirectory(spec))
		case *resource.File, *resource.Copy:
			if d.action != Removed {
				r.writes = append(r.writes, d)
			}
		case *resource.Block:
			errs = appendFailure(errs, d.Resource, r.compose(d))
		}
	}
	r.emptied = nil
	r.writes = slices.DeleteFunc(r.writes, func(d difference) bool {
		file, ok := d.Spec.(*resource.File)
		empty := ok && d.action == composed && len(file.Content) == 0
		if empty {
			r.emptied = append(r.emptied, file.Path)
		}
		return empty
	})
	return errors.Join(append(errs, r.stageFiles(r.writes)...)...)
}

// stageFiles stages files and copies, and returns the failures.
func (r *run) stageFiles(writes []difference) []error {
	var errs []error
	var files []*resource.File
	var owners []resource.Resource
	for _, d := range writes {
		switch spec := d.Spec.(type) {
		case *resource.File:
			files, owners = append(files, spec), append(owners, d.Resource)
		case *resource.Copy:
			errs = appendFailure(errs, d.Resource, r.Host.StageCopy(spec))
		}
	}
	for i, err := range r.Host.StageAll(files) {
		errs = appendFailure(errs, owners[i], err)
	}
	return errs
}

// unstage removes staged files that will not be committed. If it cannot remove one, the next run finds it under the
// same name.
func (r *run) unstage() {
	for _, d := range r.writes {
		name := d.Spec.Paths()[0]
		if err := r.Host.Unstage(name); err != nil {
			r.Log.Warn("staged file is left behind", "path", name, "error", err)
		}
	}
}
