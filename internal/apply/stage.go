package apply

import (
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/resource"
)

// stagers is how many files are staged at a time. The sync of each file takes most of the time, and file systems
// combine syncs that are requested together.
const stagers = 8

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

// stageFiles stages files, several at a time, and returns the failures in the files' order.
func (r *run) stageFiles(files []difference) []error {
	failures := make([]error, len(files))
	stage := func(i int) {
		d := files[i]
		err := r.guarded(string(d.ID()), func() error { return r.stageOne(d.Spec) })
		if err != nil {
			failures[i] = failed(d.Resource, err)
		}
	}
	limit := stagers
	if r.Sequential {
		limit = 1
	}
	parallel.Each(len(files), limit, stage)
	return failures
}

func (r *run) stageOne(spec resource.Spec) error {
	if c, ok := spec.(*resource.Copy); ok {
		return r.Host.StageCopy(c)
	}
	return r.Host.Stage(spec.(*resource.File))
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
