package apply_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// call is one call of a host's method.
type call struct{ op, name string }

func (c call) String() string { return strings.TrimSpace(c.op + " " + c.name) }

// changing are the methods that change something. Lock and Unlock only exclude other runs.
var changing = []string{
	"stage", "commit", "unstage", "mkdir", "symlink", "remove", "rmdir", "sync", "syncfs", "reload", "start", "restart", "stop", "set", "load", "run",
}

// changingKinds are the changing methods of the kinds that no AKS plan has. The tests of a kind add theirs.
var changingKinds = []string{
	"copy", "reload-unit", "mask", "unmask", "enable", "disable", "attribute-set", "mount", "unmount", "swapon", "swapoff", "pull",
}

func (c call) changes() bool {
	return slices.Contains(changing, c.op) || slices.Contains(changingKinds, c.op)
}

// entry is a file, directory or link of a memory.
type entry struct {
	apply.Entry
	content []byte
}

func (e entry) equal(o entry) bool {
	return e.Entry == o.Entry && bytes.Equal(e.content, o.content)
}

// memory is a host in memory. A running unit remembers the files that it started with, so that a unit with outdated
// files is recognized.
type memory struct {
	mu     sync.Mutex
	files  map[string]entry // what is visible
	staged map[string]entry
	synced map[string]entry // what remains after a power cut
	units  map[string]*unit
	loaded map[string]entry // unit files as systemd has read them
	sysctl map[string]string
	module map[string]bool
	// live is the other state until the next boot; stored also survives a boot. Both are by kind and name.
	live, stored map[thing]string
	// ran are the commands with inputs, by label, with the inputs they saw. ranSynced is what remains after a power
	// cut.
	ran, ranSynced map[string]ran
	// done are the commands that report that they are done, by label.
	done map[string]bool
	// stale are the resources of the earlier plan.
	stale []resource.Resource
	// masked and disabled are unit names.
	masked, disabled map[string]bool
	calls            []call
	lock             chan struct{}
	// before may make a call fail. The call then does nothing.
	before func(call) error
	// probe answers checks.
	probe func(context.Context, *resource.Check) error
	// issue answers the request for a certificate. If nil, the host behaves like a directory.
	issue func(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error)
	// name is the host's name.
	name string
	// joins is the certificate that the kubelet requests itself if it finds none at its start.
	joins *resource.Certificate
	// serves is the serving certificate that the kubelet makes if it finds none. If nil, the host behaves like a
	// directory. unsigned is the error of making one.
	serves   *resource.ServingCertificate
	unsigned error
	// run answers commands.
	run func(context.Context, *resource.Command) ([]byte, error)
	// missing are the parameters that the kernel lacks.
	missing map[string]bool
}

// thing identifies a resource's state on a machine, such as "mount /var/lib/a".
type thing struct{ kind, name string }

type unit struct {
	state  string
	inputs map[string]entry // at the time of its start
}

func newMemory() *memory {
	return &memory{
		files:  map[string]entry{},
		staged: map[string]entry{},
		synced: map[string]entry{},
		units:  map[string]*unit{},
		loaded: map[string]entry{},
		sysctl: map[string]string{},
		module: map[string]bool{},

		live:      map[thing]string{},
		stored:    map[thing]string{},
		masked:    map[string]bool{},
		disabled:  map[string]bool{},
		ran:       map[string]ran{},
		ranSynced: map[string]ran{},

		lock: make(chan struct{}, 1),
	}
}

// clone is a machine in the same state, with no run at work on it.
func (m *memory) clone() *memory {
	c := newMemory()
	c.files, c.staged, c.synced = maps.Clone(m.files), maps.Clone(m.staged), maps.Clone(m.synced)
	c.loaded, c.sysctl, c.module = maps.Clone(m.loaded), maps.Clone(m.sysctl), maps.Clone(m.module)
	c.live, c.stored = maps.Clone(m.live), maps.Clone(m.stored)
	c.masked, c.disabled = maps.Clone(m.masked), maps.Clone(m.disabled)
	c.ran, c.ranSynced, c.stale = maps.Clone(m.ran), maps.Clone(m.ranSynced), m.stale
	c.name, c.joins, c.issue, c.serves = m.name, m.joins, m.issue, m.serves
	for name, u := range m.units {
		c.units[name] = &unit{u.state, maps.Clone(u.inputs)}
	}
	return c
}

// rebooted is the machine after a power cut: unsynced changes are gone, and nothing runs.
func (m *memory) rebooted() *memory {
	c := newMemory()
	c.files, c.synced, c.staged = maps.Clone(m.synced), maps.Clone(m.synced), maps.Clone(m.staged)
	c.loaded, c.stored = unitFiles(c.files), maps.Clone(m.stored)
	c.masked, c.disabled = maps.Clone(m.masked), maps.Clone(m.disabled)
	c.ran, c.ranSynced, c.stale = maps.Clone(m.ranSynced), maps.Clone(m.ranSynced), m.stale
	c.name, c.joins, c.issue, c.serves = m.name, m.joins, m.issue, m.serves
	return c
}

const units = "/etc/systemd/system/"

func unitFiles(files map[string]entry) map[string]entry {
	found := maps.Clone(files)
	maps.DeleteFunc(found, func(name string, _ entry) bool { return !strings.HasPrefix(name, units) })
	return found
}

// filesOf are a unit's files: its unit file and its drop-ins.
func filesOf(unit string, files map[string]entry) map[string]entry {
	found := maps.Clone(files)
	maps.DeleteFunc(found, func(name string, _ entry) bool {
		return name != units+unit && !strings.HasPrefix(name, units+unit+".d/")
	})
	return found
}

// enter records a call and returns with the lock held, which the caller releases.
func (m *memory) enter(op, name string) (err error) {
	m.mu.Lock()
	m.calls = append(m.calls, call{op, name})
	before := m.before
	m.mu.Unlock()
	if before != nil {
		err = before(call{op, name})
	}
	m.mu.Lock()
	return err
}

// changed are the changing calls so far.
func (m *memory) changed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for _, c := range m.calls {
		if c.changes() {
			list = append(list, c.String())
		}
	}
	return list
}

func (m *memory) forget() { m.calls = nil }

func (m *memory) Lock(ctx context.Context, name string) (func() error, error) {
	err := m.enter("lock", name)
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case m.lock <- struct{}{}:
	default:
		select {
		case m.lock <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() error {
		<-m.lock
		err := m.enter("unlock", name)
		m.mu.Unlock()
		return err
	}, nil
}

func (m *memory) Stat(name string) (apply.Entry, error) {
	err := m.enter("stat", name)
	defer m.mu.Unlock()
	return m.files[name].Entry, err
}

func (m *memory) ReadDir(dir string) ([]string, error) {
	err := m.enter("list", dir)
	defer m.mu.Unlock()
	if err == nil && m.files[dir].Kind != apply.Directory {
		err = fmt.Errorf("list %s: %w", dir, fs.ErrNotExist)
	}
	var names []string
	for name := range m.files {
		if path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, err
}

func (m *memory) ReadFile(name string, limit int64) ([]byte, error) {
	err := m.enter("read", name)
	defer m.mu.Unlock()
	e := m.files[name]
	switch {
	case err != nil:
		return nil, err
	case e.Kind == apply.Absent:
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	case e.Kind != apply.RegularFile || int64(len(e.content)) > limit:
		return nil, fmt.Errorf("read %s: is no file of at most %d bytes", name, limit)
	}
	return e.content, nil
}

func (m *memory) Writable(dir string) error {
	defer m.mu.Unlock()
	return m.enter("writable", dir)
}

func (m *memory) Stage(f *resource.File) error {
	err := m.enter("stage", f.Path)
	defer m.mu.Unlock()
	if err == nil {
		m.parents(f.Path)
		m.staged[f.Path] = fileEntry(f)
	}
	return err
}

func (m *memory) StageAll(files []*resource.File) []error {
	errs := make([]error, len(files))
	for i, f := range files {
		errs[i] = m.Stage(f)
	}
	return errs
}

func (m *memory) StageCopy(c *resource.Copy) error {
	err := m.enter("copy", c.Path)
	defer m.mu.Unlock()
	if err == nil {
		m.parents(c.Path)
		m.staged[c.Path] = m.files[c.Source]
	}
	return err
}

func (m *memory) SameFile(a, b string) (bool, error) {
	err := m.enter("same", a)
	defer m.mu.Unlock()
	return m.files[a].Kind == apply.RegularFile && m.files[a].equal(m.files[b]), err
}

func fileEntry(f *resource.File) entry {
	return entry{
		apply.Entry{Kind: apply.RegularFile, Mode: f.Mode, UID: f.UID, GID: f.GID, Size: int64(len(f.Content)), Owned: true},
		bytes.Clone(f.Content),
	}
}

func (m *memory) parents(name string) {
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if _, ok := m.files[dir]; !ok {
			m.files[dir] = entry{Entry: apply.Entry{Kind: apply.Directory, Mode: 0o755, Owned: true}}
		}
	}
}

func (m *memory) Commit(name string) error {
	err := m.enter("commit", name)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	e, ok := m.staged[name]
	if !ok {
		return fmt.Errorf("commit %s: %w", name, fs.ErrNotExist)
	}
	m.files[name] = e
	delete(m.staged, name)
	return nil
}

// Unstage counts as no change if nothing is staged.
func (m *memory) Unstage(name string) error {
	m.mu.Lock()
	_, staged := m.staged[name]
	m.mu.Unlock()
	if !staged {
		return nil
	}
	err := m.enter("unstage", name)
	defer m.mu.Unlock()
	if err == nil {
		delete(m.staged, name)
	}
	return err
}

func (m *memory) MakeDirectory(d *resource.Directory) error {
	err := m.enter("mkdir", d.Path)
	defer m.mu.Unlock()
	if err == nil {
		m.parents(d.Path)
		m.files[d.Path] = entry{Entry: apply.Entry{Kind: apply.Directory, Mode: d.Mode, UID: d.UID, GID: d.GID, Owned: true}}
	}
	return err
}

func (m *memory) MakeSymlink(l *resource.Symlink) error {
	err := m.enter("symlink", l.Path)
	defer m.mu.Unlock()
	if err == nil {
		m.parents(l.Path)
		m.files[l.Path] = entry{Entry: apply.Entry{Kind: apply.Symlink, Mode: 0o777, Target: l.Target, Owned: true}}
	}
	return err
}

func (m *memory) Remove(name string) error {
	err := m.enter("remove", name)
	defer m.mu.Unlock()
	if err == nil {
		delete(m.files, name)
	}
	return err
}

func (m *memory) RemoveDirectory(name string) error {
	err := m.enter("rmdir", name)
	defer m.mu.Unlock()
	for other := range m.files {
		if strings.HasPrefix(other, name+"/") {
			return err
		}
	}
	if err == nil && m.files[name].Kind == apply.Directory {
		delete(m.files, name)
	}
	return err
}

func (m *memory) Renamed(string) {}

func (m *memory) SyncFileSystem(name string) error {
	err := m.enter("syncfs", name)
	defer m.mu.Unlock()
	if err == nil {
		m.ranSynced = maps.Clone(m.ran)
	}
	return err
}

func (m *memory) Sync() error {
	err := m.enter("sync", "")
	defer m.mu.Unlock()
	if err == nil {
		m.synced = maps.Clone(m.files)
	}
	return err
}

func (m *memory) UnitState(_ context.Context, name string) (apply.UnitState, error) {
	err := m.enter("state", name)
	defer m.mu.Unlock()
	state := apply.UnitState{LoadState: "not-found", ActiveState: "inactive"}
	if u := m.units[name]; u != nil {
		state.LoadState, state.ActiveState = "loaded", u.state
	}
	if m.masked[name] {
		state.LoadState = "masked"
	}
	return state, err
}

func (m *memory) UnitEnabled(_ context.Context, name string) (bool, error) {
	err := m.enter("enabled", name)
	defer m.mu.Unlock()
	return !m.disabled[name], err
}

// NeedReload is true for a unit that was started once and whose files are newer than what was read then, even with the
// same content.
func (m *memory) NeedReload(_ context.Context, units []string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(units, func(name string) bool { return m.units[name] != nil }), nil
}

func (m *memory) ReloadUnits(context.Context) error {
	err := m.enter("reload", "")
	defer m.mu.Unlock()
	if err == nil {
		m.loaded = unitFiles(m.files)
	}
	return err
}

func (m *memory) StartUnit(_ context.Context, name string) error {
	err := m.enter("start", name)
	defer m.mu.Unlock()
	switch u := m.units[name]; {
	case err != nil:
	case u != nil && (u.state == "active" || u.state == "activating"):
		u.state = "active" // with the files that it was started with
	default:
		m.join(name)
		if err := m.serve(name); err != nil {
			return err
		}
		m.units[name] = &unit{"active", m.inputs(name)}
	}
	return err
}

func (m *memory) RestartUnit(_ context.Context, name string) error {
	err := m.enter("restart", name)
	defer m.mu.Unlock()
	if err == nil {
		m.units[name] = &unit{"active", m.inputs(name)}
	}
	return err
}

func (m *memory) StopUnit(_ context.Context, name string) error {
	err := m.enter("stop", name)
	defer m.mu.Unlock()
	if u := m.units[name]; err == nil && u != nil {
		u.state = "inactive"
	}
	return err
}

// inputs are the files that a unit sees if it starts now. systemd reads unit files that it has not yet read.
func (m *memory) inputs(unit string) map[string]entry {
	if m.units[unit] == nil {
		maps.Copy(m.loaded, filesOf(unit, m.files))
	}
	seen := maps.Clone(m.files)
	maps.DeleteFunc(seen, func(name string, _ entry) bool { return strings.HasPrefix(name, units) })
	maps.Copy(seen, m.loaded)
	return seen
}

func (m *memory) Sysctl(key string) (string, error) {
	err := m.enter("sysctl", key)
	defer m.mu.Unlock()
	if err == nil && m.missing[key] {
		err = fmt.Errorf("sysctl %s: %w", key, fs.ErrNotExist)
	}
	return m.sysctl[key], err
}

func (m *memory) SetSysctl(key, value string) error {
	err := m.enter("set", key)
	defer m.mu.Unlock()
	if err == nil {
		m.sysctl[key] = strings.Join(strings.Fields(value), " ")
	}
	return err
}

func (m *memory) ModuleLoaded(name string) (bool, error) {
	err := m.enter("module", name)
	defer m.mu.Unlock()
	return m.module[name], err
}

func (m *memory) LoadModule(_ context.Context, name string) error {
	err := m.enter("load", name)
	defer m.mu.Unlock()
	if err == nil {
		m.module[name] = true
	}
	return err
}

func (m *memory) IsDone(_ context.Context, c *resource.Command) bool {
	_ = m.enter("done", c.Label)
	defer m.mu.Unlock()
	return m.done[c.Label]
}

func (m *memory) Run(ctx context.Context, c *resource.Command) ([]byte, error) {
	err := m.enter("run", c.Label)
	if err == nil && len(c.Inputs) > 0 {
		m.ran[c.Label] = ran{c, m.inputsOf(c)}
	}
	m.mu.Unlock()
	if err == nil && m.run != nil {
		return m.run(ctx, c)
	}
	return nil, err
}

func (m *memory) Probe(ctx context.Context, c *resource.Check) error {
	err := m.enter("probe", c.Label)
	m.mu.Unlock()
	if err == nil && m.probe != nil {
		return m.probe(ctx, c)
	}
	return err
}
