package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// intent is what an apply is about to do: it is the engine's journal. It is recorded, durably, before the first file is
// staged, and removed when the units are done. If a run dies in between, the next one finishes its work. Without the
// record, that run would leave staged files behind, take names for durable that are not, and not restart units that
// have not read the new files.
type intent struct {
	// Reload reports whether unit files change.
	Reload bool `json:"reload,omitempty"`
	// Restarts are the units to restart, sorted.
	Restarts []string `json:"restarts,omitempty"`
	// Reloads are the running units that must read changed files again, sorted.
	Reloads []string `json:"reloads,omitempty"`
	// Commands are the labels of the commands to run, and of the trust stores to build, because one of their inputs
	// changes. They are sorted.
	Commands []string `json:"commands,omitempty"`
	// Paths are the names that change, sorted.
	Paths []string `json:"paths,omitempty"`
}

func (i *intent) empty() bool {
	return !i.Reload && len(i.Restarts)+len(i.Reloads)+len(i.Commands)+len(i.Paths) == 0
}

// unitName is the name of a unit (systemd.unit(5)).
var unitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`) })

// check requires that a record names unfinished work, and valid units.
func (i *intent) check() error {
	if i.empty() {
		return errors.New("says nothing")
	}
	for _, unit := range slices.Concat(i.Restarts, i.Reloads) {
		if !unitName().MatchString(unit) {
			return errors.New("names something that is no unit")
		}
	}
	for _, name := range i.Paths {
		if place.Check(name) != "" {
			return errors.New("names something that is no place for a plan")
		}
	}
	return nil
}

// managerDir has systemd's configuration, which systemd reads again with its units (systemd: src/core/main.c,
// do_reload).
const managerDir = "/etc/systemd/system.conf.d/"

// unitDirs are the directories of systemd that a plan changes or a repair cleans (systemd.unit(5),
// systemd-system.conf(5)).
var unitDirs = []string{resource.UnitDir + "/", managerDir, "/etc/systemd/system.control/", "/run/systemd/"}

// reader is a resource that is made again when one of its inputs changes: a command, a trust store.
type reader interface {
	resource.Spec
	Reads(path string) bool
}

// precedesUnits reports whether units that read changed inputs wait for this resource's output.
func precedesUnits(spec resource.Spec) bool {
	c, isCommand := spec.(*resource.Command)
	_, isReader := spec.(reader)
	return isReader && (!isCommand || len(c.Inputs) > 0 && !c.Background())
}

// add adds changes, and the work on units and commands that they require.
func (i *intent) add(wrong []difference, all []resource.Resource) {
	// The earlier run's record must not change.
	i.Restarts, i.Reloads, i.Commands, i.Paths = slices.Clone(i.Restarts), slices.Clone(i.Reloads), slices.Clone(i.Commands), slices.Clone(i.Paths)
	for _, d := range wrong {
		for _, path := range d.Spec.Paths() {
			i.Reload = i.Reload || slices.ContainsFunc(unitDirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
			i.Paths = append(i.Paths, path)
			for _, res := range all {
				if c, ok := res.Spec.(reader); ok && c.Reads(path) {
					i.Commands = append(i.Commands, c.Name())
				}
				if s, ok := res.Spec.(*resource.TrustStore); ok && s.Reads(path) {
					i.Paths = append(i.Paths, s.Bundle)
				}
			}
		}
		if f, ok := d.Spec.(*resource.File); !ok || !f.Temporary() || d.action != Removed {
			i.Restarts = append(i.Restarts, d.Restarts...) // if it is over, its readers have something better now
			i.Reloads = append(i.Reloads, d.Reloads...)
		}
	}
	for _, list := range []*[]string{&i.Restarts, &i.Reloads, &i.Commands} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	i.also(nil)
}

// also adds changed names.
func (i *intent) also(names []string) {
	i.Paths = append(i.Paths, names...)
	slices.Sort(i.Paths)
	i.Paths = slices.Compact(i.Paths)
}

// recover resumes an earlier run's unfinished work. If the record cannot be read, it assumes the worst: everything is
// reloaded and restarted.
func (r *run) recover() error {
	entry, err := r.Host.Stat(state.Intent.Path)
	if err != nil || entry.Kind == Absent {
		return err
	}
	data, err := state.Intent.Read(r.Host)
	if err == nil {
		err = json.Unmarshal(data, &r.earlier)
	}
	if err == nil {
		err = r.earlier.check()
	}
	if err != nil {
		r.Log.Warn("cannot read the record of an unfinished apply; restarting every unit", "path", state.Intent.Path, "error", err)
		r.earlier = r.worst()
	}
	r.recovered = true
	return nil
}

// worst is the most that an earlier run may have left unfinished.
func (r *run) worst() intent {
	all := intent{Reload: true}
	for _, res := range slices.Concat(r.plan.Resources, r.Stale) {
		all.Paths = append(all.Paths, res.Spec.Paths()...)
		switch spec := res.Spec.(type) {
		case *resource.Unit:
			all.Restarts = append(all.Restarts, spec.Unit)
		case *resource.Command:
			if len(spec.Inputs) > 0 {
				all.Commands = append(all.Commands, spec.Label)
			}
		case *resource.TrustStore:
			all.Commands = append(all.Commands, spec.Label)
		}
	}
	return all
}

// clean removes the files that an earlier run staged and did not commit, and makes the names that it changed durable at
// the next Sync.
func (r *run) clean() error {
	// A run that died while it wrote a record has left a partial file.
	for _, record := range []state.File{state.Intent, state.Commands} {
		if err := r.Host.Unstage(record.Path); err != nil {
			return err
		}
	}
	for _, name := range r.earlier.Paths {
		parent, err := r.Host.Stat(path.Dir(name))
		if err != nil {
			return err
		}
		if parent.Kind != Directory && parent.Kind != Symlink {
			continue // the record is damaged, or another program has changed the path since
		}
		switch err := r.Host.Unstage(name); {
		case err == nil:
			r.Host.Renamed(name)
		case parent.Kind == Directory:
			return err
		default: // the link's target is not a directory
			r.Log.Warn("what an earlier apply has staged cannot be removed", "path", name, "error", err)
		}
	}
	return nil
}

// takeBack restores the record's earlier content, if nothing was changed.
func (r *run) takeBack() {
	r.intent = r.earlier
	write := r.announce
	if r.intent.empty() {
		write = r.forget
	}
	if err := write(); err != nil {
		r.Log.Warn("cannot remove the record of this apply; the next apply restarts more than it needs to", "path", state.Intent.Path, "error", err)
	}
}

// announce records the intent.
func (r *run) announce() error {
	if r.intent.empty() {
		return nil
	}
	data, err := json.Marshal(r.intent)
	if err != nil {
		return err
	}
	file, err := state.Intent.With(append(data, '\n'))
	if err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	if err := r.Host.Stage(file); err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	if err := r.Host.Commit(state.Intent.Path); err != nil {
		return errors.Join(fmt.Errorf("record the intent: %w", err), r.Host.Unstage(state.Intent.Path))
	}
	if err := r.Host.Sync(); err != nil {
		return fmt.Errorf("record the intent: %w", err)
	}
	return nil
}

// done removes the record: the units are as planned.
func (r *run) done() error {
	if r.intent.empty() {
		return nil
	}
	if err := r.forget(); err != nil {
		return fmt.Errorf("remove the record of the intent: %w", err)
	}
	return nil
}

// forget removes the record.
func (r *run) forget() error {
	if err := r.Host.Remove(state.Intent.Path); err != nil {
		return err
	}
	return r.Host.Sync()
}

// owe shortens the record after a failure. If it cannot be shortened, it stays: the next run does more, and loses
// nothing.
func (r *run) owe() {
	if err := r.shorten(); err != nil {
		r.Log.Warn("cannot shorten the record of this apply; the next apply restarts more than it needs to", "path", state.Intent.Path, "error", err)
	}
}

// shorten shortens the record to the unfinished work, so that the next run does not restart what runs well.
func (r *run) shorten() error {
	open := func(names []string) []string { return slices.DeleteFunc(slices.Clone(names), r.settled) }
	left := intent{Restarts: open(r.intent.Restarts), Reloads: open(r.intent.Reloads), Commands: open(r.intent.Commands)}
	if r.intent.empty() || reflect.DeepEqual(left, r.intent) {
		return nil
	}
	r.intent = left
	if left.empty() {
		return r.forget()
	}
	return r.announce()
}

// has reports whether a list of the record has a name.
func has(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}
