package apply_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The files of the test's pair, and their content.
const (
	servingCertificate = "/var/lib/kubelet/pki/kubelet.crt"
	servingKey         = "/var/lib/kubelet/pki/kubelet.key"
)

var errNoName = errors.New("the host has no name")

func (m *memory) SelfSign(c *resource.ServingCertificate) (certificate, key []byte, err error) {
	err = m.enter("self-sign", c.Label)
	defer m.mu.Unlock()
	switch {
	case err != nil:
		return nil, nil, err
	case m.serves == nil:
		return nil, nil, apply.ErrNotProbed
	}
	return []byte("serving certificate"), []byte("serving key"), m.unsigned
}

// serve does what a starting kubelet does: it makes a missing pair, and refuses half of one (client-go: util/cert,
// CanReadCertAndKey). The lock is held.
func (m *memory) serve(unit string) error {
	c := m.serves
	if c == nil || unit != c.Unit {
		return nil
	}
	certificate, key := m.files[c.Certificate], m.files[c.Key]
	switch {
	case certificate.Kind == apply.Absent && key.Kind == apply.Absent:
		m.parents(c.Key)
		for _, f := range servingPair(c) {
			m.files[f.Path] = fileEntry(f)
		}
	case len(certificate.content) == 0 || len(key.content) == 0:
		return errors.New("the kubelet refuses half a pair")
	}
	return nil
}

// servingPair are the files of a pair that this test makes.
func servingPair(c *resource.ServingCertificate) []*resource.File {
	return []*resource.File{
		{Path: c.Key, Mode: 0o600, Content: []byte("serving key"), Secret: true},
		{Path: c.Certificate, Mode: 0o644, Content: []byte("serving certificate")},
	}
}

// canServe requires the whole pair, with its modes.
func canServe(m *memory, spec resource.Spec) bool {
	return m.serves == nil || !slices.ContainsFunc(servingPair(spec.(*resource.ServingCertificate)), func(f *resource.File) bool {
		return !m.files[f.Path].equal(fileEntry(f))
	})
}

// servingPlan is a plan for a node with a kubelet and nothing else.
func servingPlan() (resource.Plan, *resource.ServingCertificate) {
	c := &resource.ServingCertificate{Label: "kubelet-server", Certificate: servingCertificate, Key: servingKey, Unit: "kubelet.service"}
	kubelet := started(c.Unit)
	kubelet.After = []resource.ID{resource.IDOf(c)}
	return with(resource.Resource{Phase: resource.Join, Spec: c}, kubelet), c
}

// serving is an empty machine whose host can make the kubelet's pair, or whose kubelet makes it.
func serving(c *resource.ServingCertificate) *memory {
	m := newMemory()
	m.serves = c
	return m
}

// has is a machine with content in a file.
func has(path, content string) func(*memory) {
	return func(m *memory) {
		m.parents(path)
		m.files[path] = fileEntry(&resource.File{Path: path, Mode: 0o600, Content: []byte(content)})
	}
}

func TestServingCertificate(t *testing.T) {
	writes := []string{
		"stage " + servingKey, "stage " + servingCertificate, "commit " + servingKey, "commit " + servingCertificate, "sync",
		"start kubelet.service",
	}
	starts := []string{"start kubelet.service"}
	made := []string{"started Unit:kubelet.service", "created ServingCertificate:kubelet-server"}
	for name, c := range map[string]struct {
		prepare        func(*memory)
		calls, changes []string
		skipped        []string
	}{
		"a new node":                     {prepare: func(*memory) {}, calls: writes, changes: made},
		"half a pair":                    {prepare: has(servingKey, "another key"), calls: writes, changes: made},
		"the other half":                 {prepare: has(servingCertificate, "another"), calls: writes, changes: made},
		"a file that is empty":           {prepare: func(m *memory) { has(servingKey, "")(m); has(servingCertificate, "another")(m) }, calls: writes, changes: made},
		"a kubelet that has made a pair": {prepare: func(m *memory) { has(servingKey, "its key")(m); has(servingCertificate, "its own")(m) }, calls: starts, changes: made[:1]},
		"a kubelet that runs":            {prepare: func(m *memory) { m.units["kubelet.service"] = &unit{"active", nil} }},
		"a kubelet that is being started": {
			prepare: func(m *memory) { m.units["kubelet.service"] = &unit{"activating", nil} }, calls: starts, changes: made[:1],
		},
		"half a pair, and a kubelet that waits to be started": {
			prepare: func(m *memory) {
				has(servingKey, "another key")(m)
				m.units["kubelet.service"] = &unit{"activating", nil}
			}, calls: writes, changes: made,
		},
		"a directory": {
			prepare: func(m *memory) { m.serves = nil }, calls: starts, changes: made[:1],
			skipped: []string{"ServingCertificate:kubelet-server"},
		},
		"a name that no certificate can be for": {
			prepare: func(m *memory) { m.unsigned = errNoName }, calls: starts, changes: made[:1],
			skipped: []string{"ServingCertificate:kubelet-server"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, wanted := servingPlan()
			m := serving(wanted)
			c.prepare(m)
			report, err := engine(m).Apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "calls", certificateCalls(m), c.calls)
			equal(t, "changes", changes(report), c.changes)
			equal(t, "skipped", names(report.Skipped), c.skipped)
		})
	}
}

// A command that starts the kubelet also comes after the pair.
func TestServingCertificateBeforeACommand(t *testing.T) {
	p, wanted := servingPlan()
	m := serving(wanted)
	startedByCommand(m, wanted.Unit)
	report := applied(t, m, byCommand(p, wanted.Unit))
	equal(t, "calls", certificateCalls(m), []string{
		"stage " + servingKey, "stage " + servingCertificate, "commit " + servingKey, "commit " + servingCertificate, "sync",
		"run command-1", "start kubelet.service", "stage /var/lib/slipway/commands", "commit /var/lib/slipway/commands", "sync",
	})
	equal(t, "changes", changes(report), []string{"ran Command:command-1", "created ServingCertificate:kubelet-server"})
}

// A command that has started the kubelet does not run again, so no pair is made for another start.
func TestServingCertificateAfterTheCommand(t *testing.T) {
	p, wanted := servingPlan()
	m := serving(wanted)
	has("/var/lib/slipway/commands", "once\n")(m)
	applied(t, m, byCommand(p, wanted.Unit))
	equal(t, "calls", certificateCalls(m), nil)
}

// A write that fails while the pair is installed fails the run, and no kubelet has started with half of it.
func TestServingCertificateCannotBeWritten(t *testing.T) {
	p, wanted := servingPlan()
	clean := serving(wanted)
	applied(t, clean, p)
	tried := 0
	for n, c := range clean.calls {
		if c.op == "start" || c.name == intentPath || !c.changes() && c.op != "stage" && c.op != "sync" {
			continue
		}
		tried++
		m := serving(wanted)
		err := interrupt(m, p, func(at int, _ call) error {
			if at == n+1 {
				return fmt.Errorf("%s: %w", c, io.ErrShortWrite)
			}
			return nil
		})
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s fails, and the run ends with %v", c, err)
		}
		if slices.Contains(m.changed(), "start kubelet.service") && !canServe(m, wanted) {
			t.Errorf("%s fails, and the kubelet has started with half of it", c)
		}
		if len(m.staged) > 0 && c.op != "commit" && c.op != "sync" {
			t.Errorf("%s fails, and a key is left staged", c)
		}
	}
	if tried < 5 {
		t.Errorf("only %d calls were tried", tried)
	}
}
