package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// LockPath is the lock that one apply at a time holds.
const LockPath = state.RunDir + "/lock"

// Engine applies plans to a host.
type Engine struct {
	Host Host
	// Now is the clock of the report.
	Now func() time.Time
	Log *slog.Logger
	// Sequential does one thing at a time, in an order that depends only on the plan. It is for a directory, whose
	// record of actions is compared.
	Sequential bool
	// Stale are resources of earlier plans. Those that this plan does not have are removed.
	Stale []resource.Resource
	// Defer leaves background commands to Afterwards.
	Defer bool
	// Late, if any, is a decision that is made while the engine is at work.
	Late *Late
}

// Late are files of the plan whose content is decided while the engine is at work. They are first written as planned,
// and written again right before the unit that reads them starts.
type Late struct {
	Unit string
	// Files waits for the decision, and returns the files whose content is different. It is called at most once.
	Files func(ctx context.Context) ([]*resource.File, error)
}

// Action is what was done to a resource. The status lists it.
type Action = status.Action

// The actions.
const (
	Created    = status.ActionCreated
	Updated    = status.ActionUpdated
	Corrected  = status.ActionCorrected
	Loaded     = status.ActionLoaded
	Set        = status.ActionSet
	Started    = status.ActionStarted
	Restarted  = status.ActionRestarted
	Ran        = status.ActionRan
	Removed    = status.ActionRemoved
	Stopped    = status.ActionStopped
	Reloaded   = status.ActionReloaded
	Mounted    = status.ActionMounted
	Unmounted  = status.ActionUnmounted
	Masked     = status.ActionMasked
	Unmasked   = status.ActionUnmasked
	Disabled   = status.ActionDisabled
	Enabled    = status.ActionEnabled
	Downloaded = status.ActionDownloaded
	Pulled     = status.ActionPulled
	// Left is a deviation that no apply changes, because an administrator decided it. It is not counted as a change,
	// and no status lists it.
	Left Action = "left"

	// joined is no change: another program is starting the unit, and this run waits for it.
	joined Action = "joined"
	// missing is no change: the kernel lacks an optional setting.
	missing Action = "missing"
	// asking is no change: a check.
	asking Action = "asking"
)

// foreseen reports whether an action is a change that is known in advance.
func foreseen(action Action) bool {
	return action != "" && action != joined && action != missing && action != asking
}

// Change is a changed resource.
type Change struct {
	ID     resource.ID
	Action Action
	// Note describes the state, and what a change of it takes, if the action is Left.
	Note string
}

// Step is a part of an apply, for the timeline.
type Step struct {
	Name     string
	Start    time.Time
	Duration time.Duration
	// Detail is additional information.
	Detail string
}

// Report is what an apply did, even if it failed in the middle.
type Report struct {
	// Changes are in the order of the plan.
	Changes []Change
	// Unchanged is the number of resources that were already as planned.
	Unchanged int
	// Skipped are the resources that were not tried: a requirement failed, or the host is a directory and cannot be
	// asked.
	Skipped []resource.ID
	// Advice are the advisory checks that failed, each an *Error.
	Advice []error
	// Steps are in the order of their beginning.
	Steps []Step
	// Critical are the names of the steps that the whole run waited for, in order. It is empty if nothing ran in
	// parallel.
	Critical []string
	// Output is the end of the commands' output.
	Output []byte
	// Owed are the background commands that are left to Afterwards. Until then they are in the record of the intent.
	Owed []resource.Resource
}

// Apply makes the host match the plan. The caller holds the lock at LockPath. The error joins one *Error for each
// resource that failed, in the order of failure.
func (e *Engine) Apply(ctx context.Context, plan resource.Plan) (*Report, error) {
	run := &run{Engine: e, plan: plan, began: e.Now()}
	err := run.reporting(func() error { return run.guarded("apply", func() error { return run.apply(ctx) }) })
	return run.report(), err
}

// Preview reports what Apply would do, except commands and checks. It changes nothing.
func (e *Engine) Preview(ctx context.Context, plan resource.Plan) (*Report, error) {
	run := &run{Engine: e, plan: plan, began: e.Now()}
	err := run.guarded("preview", func() error { return run.preview(ctx) })
	return run.report(), err
}

func (r *run) preview(ctx context.Context) error {
	errs := []error{r.previewMounts(ctx), r.previewDownloads(ctx)}
	order, err := r.compared(ctx)
	if err != nil {
		return err
	}
	for _, n := range order {
		action, err := r.needs(ctx, n)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.changed(n.ID(), Set) // a parameter of a module that is not loaded yet
		case err != nil:
			errs = append(errs, failed(n.Resource, err))
		case foreseen(action):
			r.changed(n.ID(), action)
		}
	}
	return errors.Join(errs...)
}

// run is one Apply.
type run struct {
	*Engine
	plan    resource.Plan
	began   time.Time
	outcome outcome
	// wrong are the differing files, directories, links, copies and blocks; writes are the files to write for them.
	wrong  []difference
	writes []difference
	// pairs are the file names of certificates.
	pairs []string
	// emptied are the files that become empty without a block.
	emptied []string
	// order are the actions, each after its requirements.
	order  []*node
	intent intent
	// earlier is the unfinished work of an earlier run; recovered reports whether there is any.
	earlier   intent
	recovered bool
	// awaited are the steps that run.
	awaited awaited
	// idle has the units that systemd was asked about, and whether they were idle.
	idle idleUnits
	// once is held while the record of the commands that are run once is written.
	once sync.Mutex
}

// difference is something on the disk that differs from the plan.
type difference struct {
	resource.Resource
	action Action
}

// differing are the resources that differ from the plan.
func (r *run) differing() []resource.Resource {
	list := make([]resource.Resource, len(r.wrong))
	for i, d := range r.wrong {
		list[i] = d.Resource
	}
	return list
}

func (r *run) apply(ctx context.Context) error {
	if err := r.mounts(ctx); err != nil {
		return err
	}
	if err := r.downloads(ctx); err != nil {
		return err
	}
	order, err := r.compared(ctx)
	if err != nil {
		return err
	}
	if r.recovered {
		r.Log.Info("an earlier apply did not finish; finishing it", "restarts", r.earlier.Restarts)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped before anything was changed: %w", stopCause(ctx))
	}
	if err := r.writable(r.differing(), func(resource.Resource) bool { return true }); err != nil {
		return err
	}
	if err := r.clean(); err != nil {
		return err
	}
	announced := len(r.wrong) > 0 || len(r.pairs) > 0
	bring := func() error { return r.write(ctx) }
	if !announced {
		bring = r.commit // the earlier run may have died when it had only directories left to remove
	}
	if announced || r.recovered {
		if err := r.step("write", bring); err != nil {
			return err
		}
	}
	if err := r.reload(ctx); err != nil {
		return &Error{Resource: "Unit:systemd", Err: err}
	}
	return r.finish(r.actions(ctx, order))
}

// finish removes the record of the intent, or shortens it to the rest.
func (r *run) finish(err error) error {
	switch {
	case err != nil:
		r.owe()
		return err
	case len(r.outcome.report.Owed) > 0:
		if err := r.shorten(); err != nil {
			return fmt.Errorf("shorten the record of the intent: %w", err)
		}
		return nil
	}
	return r.done()
}

// reload makes systemd read its unit files again, if they changed after it had read them, and its configuration.
func (r *run) reload(ctx context.Context) error {
	if !r.intent.Reload {
		return nil
	}
	units := slices.Concat(r.intent.Restarts, r.intent.Reloads)
	for _, res := range r.plan.Resources {
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			units = append(units, spec.Unit)
		case *resource.UnitState:
			units = append(units, spec.Unit)
		}
	}
	// No unit's state shows that systemd's configuration has changed, or that systemd must pull in another unit.
	unseen := func(path string) bool {
		return strings.HasPrefix(path, managerDir) || slices.Contains(units, pulling(path))
	}
	if !slices.ContainsFunc(r.intent.Paths, unseen) {
		for _, res := range r.plan.Resources {
			if link, ok := res.Spec.(*resource.Symlink); ok && slices.Contains(units, pulling(link.Path)) {
				units = append(units, path.Base(link.Path)) // its start is part of the other unit's
			}
		}
		slices.Sort(units)
		needed, err := r.Host.NeedReload(ctx, slices.Compact(units))
		if err != nil || !needed {
			return err
		}
	}
	return r.step("daemon-reload", func() error { return r.Host.ReloadUnits(ctx) })
}

// pulling returns the unit that pulls another one in through a link at the path (systemd.unit(5), ".wants/"). It is
// empty if the path is not such a link.
func pulling(link string) string {
	unit, ok := strings.CutSuffix(path.Base(path.Dir(link)), ".wants")
	if !ok || path.Dir(path.Dir(link)) != resource.UnitDir {
		return ""
	}
	return unit
}

// compared finds out what must be done, and in which order. It changes nothing.
func (r *run) compared(ctx context.Context) ([]*node, error) {
	if err := r.allowed(); err != nil {
		return nil, err
	}
	if err := r.step("compare", r.compare); err != nil {
		return nil, err
	}
	if err := r.recover(); err != nil {
		return nil, err
	}
	r.intent = r.earlier
	r.intent.add(r.wrong, append(r.dropped(), r.plan.Resources...))
	if err := r.namePairs(ctx); err != nil {
		return nil, err
	}
	r.intent.also(r.pairs)
	return r.graph()
}

// compare finds what on the disk differs from the plan, and what must be removed. It reports everything that it cannot
// compare.
func (r *run) compare() error {
	var errs []error
	for _, res := range r.plan.Resources {
		if !resource.OnDisk(res.Spec) {
			continue
		}
		action, err := diskKinds[res.Spec.Kind()].compare(r, res.Spec)
		if err == nil && action != "" {
			res, err = r.effective(res)
		}
		switch {
		case err != nil:
			errs = append(errs, failed(res, err))
		case action == "":
			r.unchanged()
		default:
			r.wrong = append(r.wrong, difference{res, action})
			r.changed(res.ID(), action)
		}
	}
	return errors.Join(append(errs, r.compareStale())...)
}

// write makes every change on the disk: the record of the intent, then directories and all staged files, then the
// renames and removals. Before the first rename only directories are visible.
func (r *run) write(ctx context.Context) error {
	sort.SliceStable(r.wrong, func(i, j int) bool { return r.wrong[i].Spec.Name() < r.wrong[j].Spec.Name() })
	if err := r.announce(); err != nil {
		return err
	}
	if err := r.stage(); err != nil {
		r.unstage()
		r.takeBack()
		return err
	}
	r.stopForgotten(ctx)
	if err := r.commit(); err != nil {
		r.unstage()
		return err
	}
	return nil
}

// commit renames the staged files into place, removes files, and makes both durable.
func (r *run) commit() error {
	var errs []error
	staged := make(map[string]bool)
	for _, d := range r.writes {
		staged[d.Spec.Paths()[0]] = true
	}
	for _, d := range r.wrong {
		if path := d.Spec.Paths()[0]; staged[path] {
			delete(staged, path) // once, even if it has several blocks
			errs = appendFailure(errs, d.Resource, r.Host.Commit(path))
		} else if link, ok := d.Spec.(*resource.Symlink); ok && d.action != Removed {
			errs = appendFailure(errs, d.Resource, r.Host.MakeSymlink(link))
		}
	}
	errs = append(errs, r.prune())
	if err := r.Host.Sync(); err != nil {
		errs = append(errs, fmt.Errorf("make the renames durable: %w", err))
	}
	return errors.Join(errs...)
}

//go:noinline
func appendFailure(errs []error, res resource.Resource, err error) []error {
	if err == nil {
		return errs
	}
	return append(errs, failed(res, err))
}

func failed(res resource.Resource, err error) error {
	if another, ok := err.(*Error); ok {
		return another
	}
	code := res.ExitCode
	if command, ok := res.Spec.(*resource.Command); ok && command.OwnCode {
		if ended, ok := errors.AsType[interface {
			error
			ExitCode() int
		}](err); ok && ended.ExitCode() > 0 { // not for a killed process
			code = ended.ExitCode()
		}
	}
	var codes map[resource.Cause]int
	switch spec := res.Spec.(type) {
	case *resource.Certificate:
		codes = spec.ExitCodes
	case *resource.Check:
		codes = spec.ExitCodes
	case *resource.Download:
		codes = spec.ExitCodes
	case *resource.Image:
		codes = spec.ExitCodes
	case *resource.Swap:
		codes = spec.ExitCodes
	}
	if cause, ok := errors.AsType[*CheckError](err); ok {
		code = cmp.Or(codes[cause.Cause], code)
	}
	return &Error{Resource: res.ID(), ExitCode: code, Err: err}
}
