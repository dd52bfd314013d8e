package generation_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// machine is a directory with generations.
type machine struct {
	t testing.TB
	*host.Directory
	root string
	log  bytes.Buffer
	// size is the size of each generation's file, if not 0.
	size int64
	// before may make a call of the store fail.
	before func(op, name string) error
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	m := &machine{t: t, root: hosttest.TempDir(t), before: func(string, string) error { return nil }}
	dir, err := host.OpenDirectory(m.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	m.Directory = dir
	return m
}

func (m *machine) Stat(name string) (apply.Entry, error) {
	e, err := m.Directory.Stat(name)
	if m.size > 0 && strings.HasPrefix(name, generation.Dir+"/0") {
		e.Size = m.size
	}
	return e, err
}

func (m *machine) ReadFile(name string, limit int64) ([]byte, error) {
	if err := m.before("ReadFile", name); err != nil {
		return nil, err
	}
	return m.Directory.ReadFile(name, limit)
}

func (m *machine) WriteFileAtomic(f *resource.File) error {
	if err := m.before("WriteFileAtomic", f.Path); err != nil {
		return err
	}
	return m.Directory.WriteFileAtomic(f)
}

func (m *machine) Remove(name string) error {
	if err := m.before("Remove", name); err != nil {
		return err
	}
	return m.Directory.Remove(name)
}

// open opens the store as a new process does.
func (m *machine) open() *generation.Store {
	m.t.Helper()
	s, err := generation.Open(m, slog.New(slog.NewTextHandler(&m.log, nil)))
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// clock is the time at which all generations are made.
var clock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// begin begins a generation, as a new process does.
func (m *machine) begin(e generation.Entry, p resource.Plan) (*generation.Store, generation.Entry) {
	m.t.Helper()
	s := m.open()
	if e.Origin == "" {
		e.Origin = generation.Apply
	}
	e.StartedAt = clock
	e, err := s.Begin(m.t.Context(), e, p)
	if err != nil {
		m.t.Fatal(err)
	}
	return s, e
}

// advance applies a plan as a generation with an outcome, and returns its number.
func (m *machine) advance(p resource.Plan, outcome generation.Outcome) int {
	m.t.Helper()
	return m.advanceAs(generation.Entry{}, p, outcome)
}

func (m *machine) advanceAs(e generation.Entry, p resource.Plan, outcome generation.Outcome) int {
	m.t.Helper()
	s, e := m.begin(e, p)
	engine := &apply.Engine{Host: m, Now: func() time.Time { return clock }, Log: slog.New(slog.DiscardHandler), Sequential: true}
	var restored []resource.Resource
	engine.Stale, restored = s.Stale(p)
	p.Resources = slices.Concat(p.Resources, restored)
	p.Sort()
	if _, err := engine.Apply(m.t.Context(), p); err != nil {
		m.t.Fatal(err)
	}
	if err := s.Finish(outcome, "", clock); err != nil {
		m.t.Fatal(err)
	}
	return e.Number
}

// list returns the generations as a new process reads them, "1 good" each.
func (m *machine) list() string {
	m.t.Helper()
	var list []string
	for _, e := range m.open().Entries() {
		list = append(list, fmt.Sprint(e.Number, " ", e.Outcome))
	}
	return strings.Join(list, ", ")
}

// put writes a file that is not Slipway's.
func (m *machine) put(name, content string, mode fs.FileMode) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.root+name), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.root+name, []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(m.root+name, mode); err != nil {
		m.t.Fatal(err)
	}
}

// read reads a file. A missing one is "absent".
func (m *machine) read(name string) string {
	m.t.Helper()
	content, err := os.ReadFile(m.root + name)
	if os.IsNotExist(err) {
		return "absent"
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return string(content)
}

// names are the files of the generations' directory.
func (m *machine) names() string {
	m.t.Helper()
	names, err := m.ReadDir(generation.Dir)
	if err != nil {
		m.t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// wanted is a plan of a config.
func wanted(config string, resources ...resource.Resource) resource.Plan {
	p := resource.Plan{Config: config, Dialect: "native", Resources: resources}
	p.Sort()
	return p
}

func file(path, content string) resource.Resource {
	return resource.Resource{Phase: resource.Base, Spec: &resource.File{Path: path, Mode: 0o644, UID: os.Getuid(), GID: os.Getgid(), Content: []byte(content)}}
}

func secret(path, content string) resource.Resource {
	return resource.Resource{Phase: resource.Join, Spec: &resource.File{Path: path, Mode: 0o600, UID: os.Getuid(), GID: os.Getgid(), Content: []byte(content), Secret: true}}
}

func credential(path, content string, until ...string) resource.Resource {
	r := secret(path, content)
	r.Spec.(*resource.File).Until = until
	return r
}

func link(path, target string) resource.Resource {
	return resource.Resource{Phase: resource.Base, Spec: &resource.Symlink{Path: path, Target: target}}
}

func ids(resources []resource.Resource) string {
	var list []string
	for _, r := range resources {
		list = append(list, string(r.ID()))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}
