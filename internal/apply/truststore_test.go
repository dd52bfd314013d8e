package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// trusting is a plan with an authority, the store that has it, and the distribution's program after the kubelet.
func trusting(authority string) resource.Plan {
	anchor := file("/etc/ca/1.crt", authority, "containerd.service")
	store := &resource.TrustStore{
		Label: "store", Bundle: "/etc/certs/bundle.crt", Links: "/etc/certs", Anchors: "/etc/ca", Packages: "/usr/share/ca", Selection: "/etc/ca.conf",
		Added: []string{"/etc/ca/1.crt"},
	}
	tool := resource.Resource{ExitCode: 161, After: []resource.ID{resource.IDOf(store), "Unit:kubelet.service"}, Spec: &resource.Command{
		Label: "tool", Argv: []string{"update"}, Inputs: []string{"/etc/ca"}, Advisory: true, Confirms: []string{store.Bundle, store.Links},
	}}
	kubelet := started("kubelet.service", "Unit:containerd.service")
	return with(anchor, resource.Resource{Spec: store}, started("containerd.service", resource.IDOf(store)), kubelet, tool)
}

// withTool is a machine that has the distribution's program, and no certificate of a package.
func withTool() *memory {
	m := newMemory()
	m.files["/etc/ca.conf"] = entry{Entry: apply.Entry{Kind: apply.RegularFile, Mode: 0o644, Owned: true}, content: []byte("# none\n")}
	return m
}

// The distribution's program runs after all that needs the store. Its failure, or a different result, is a warning.
func TestStoreIsConfirmedByProgram(t *testing.T) {
	bundle := func(m *memory, content string) {
		e := m.files["/etc/certs/bundle.crt"]
		e.content = []byte(content)
		m.files["/etc/certs/bundle.crt"] = e
	}
	for name, c := range map[string]struct {
		run  func(m *memory) error
		want string
	}{
		"the same":       {func(*memory) error { return nil }, ""},
		"fails":          {func(*memory) error { return errors.New("no such program") }, "no such program"},
		"another bundle": {func(m *memory) error { bundle(m, "1\nmore\n"); return nil }, "/etc/certs/bundle.crt"},
		"a link less":    {func(m *memory) error { delete(m.files, "/etc/certs/1.pem"); return nil }, "/etc/certs/1.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			m := withTool()
			m.run = func(context.Context, *resource.Command) ([]byte, error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				for _, unit := range []string{"containerd.service", "kubelet.service"} {
					if m.units[unit] == nil || m.units[unit].state != "active" {
						t.Errorf("the program runs before %s does", unit)
					}
				}
				return nil, c.run(m)
			}
			report := applied(t, m, trusting("1\n"))
			if c.want == "" && len(report.Advice) > 0 || c.want != "" && (len(report.Advice) != 1 || !strings.Contains(report.Advice[0].Error(), c.want)) {
				t.Fatalf("warnings %v, want %q", report.Advice, c.want)
			}
			for _, err := range report.Advice {
				if failed, ok := errors.AsType[*apply.Error](err); !ok || failed.ExitCode != 161 {
					t.Errorf("%v has another exit code", err)
				}
			}
			// Nothing is built again: the program's result is valid as long as it has the authority.
			if again := applied(t, m, trusting("1\n")); len(again.Changes) > 0 {
				t.Errorf("the next run changes %v", changes(again))
			}
		})
	}
}

// A bundle that has lost a certificate of the plan is built again, without the program.
func TestLostCertificateIsAddedAgain(t *testing.T) {
	m := withTool()
	applied(t, m, trusting("1\n"))
	e := m.files["/etc/certs/bundle.crt"]
	e.content = []byte("of a package\n")
	m.files["/etc/certs/bundle.crt"] = e
	report := applied(t, m, trusting("1\n"))
	if got := string(m.files["/etc/certs/bundle.crt"].content); got != "1\n" || !slices.Equal(changes(report), []string{"updated TrustStore:store"}) {
		t.Errorf("%q after %q", got, changes(report))
	}
}

// A removed authority's files are gone from the store before a unit that reads it restarts.
func TestRemovedCertificateIsTrustedNoMore(t *testing.T) {
	m := withTool()
	applied(t, m, trusting("1\n"))
	e := engine(m)
	e.Stale = trusting("1\n").Resources
	if _, err := e.Apply(t.Context(), with(started("containerd.service"), started("kubelet.service", "Unit:containerd.service"))); err != nil {
		t.Fatal(err)
	}
	if _, there := m.files["/etc/certs/1.pem"]; there {
		t.Error("the link is left")
	}
	if got := string(m.files["/etc/certs/bundle.crt"].content); got != "" {
		t.Errorf("the bundle has %q", got)
	}
}
