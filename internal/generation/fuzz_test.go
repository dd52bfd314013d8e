package generation

import (
	"bytes"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// again marshals and parses a document again, and requires that nothing changes.
func again[T any](t *testing.T, document T, parse func([]byte) (T, error)) {
	t.Helper()
	first, err := marshal(document)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	read, err := parse(first)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v: %s", err, first)
	}
	second, err := marshal(read)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%v\n%s\n%s", err, first, second)
	}
}

func FuzzIndex(f *testing.F) {
	whole, err := marshal(index{apiVersion, indexKind, []Entry{
		{Number: 1, Config: "c", Plan: "p", Origin: Provision, Outcome: Good, StartedAt: time.Unix(1, 2)},
		{Number: 7, Origin: Rollback, Restores: 1, Outcome: Failed, Reason: "<&> \x00", ConfirmBy: time.Unix(3, 4).UTC()},
	}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(whole), "", "null", `{"apiVersion":"slipway.dev/v1","kind":"GenerationIndex","generations":[{"number":1},{"number":1}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseIndex(data)
		if err != nil {
			return
		}
		last := 0
		for _, e := range entries {
			if e.Number <= last {
				t.Fatalf("%d after %d", e.Number, last)
			}
			last = e.Number
		}
		again(t, index{apiVersion, indexKind, entries}, func(data []byte) (index, error) {
			entries, err := parseIndex(data)
			return index{apiVersion, indexKind, entries}, err
		})
	})
}

func FuzzRecord(f *testing.F) {
	plan := resource.Plan{Config: "c", Dialect: "aks", Resources: []resource.Resource{
		{Phase: resource.Base, Reason: "<&>", Effects: resource.Restarting("a.service"), Spec: &resource.File{Path: "/etc/a", Mode: 0o644, Content: []byte("a\xff")}},
		{Phase: resource.Join, ExitCode: 3, Spec: &resource.File{Path: "/etc/s", Mode: 0o600, Content: []byte("s"), Secret: true}},
		{Phase: resource.Join, Spec: &resource.File{Path: "/etc/u", Mode: 0o600, Content: []byte("u"), Secret: true, Until: []string{"/etc/own", "/etc/name"}}},
		{Spec: &resource.Directory{Path: "/etc/d", Mode: 0o755}}, {Spec: &resource.Symlink{Path: "/etc/l", Target: "x"}}, {Spec: &resource.Unit{Unit: "a.service"}},
		{Spec: &resource.Sysctl{Key: "a.b", Value: "1"}}, {Spec: &resource.Module{Module: "m"}}, {Spec: &resource.Command{Label: "c", Argv: []string{"/x"}, Env: map[string]string{"a": "b"}}},
		{Spec: &resource.Check{Label: "k", APIServer: &resource.APIServer{Server: "https://a"}}},
	}}
	plan.Health = []resource.Resource{{ExitCode: 34, Spec: &resource.Check{Label: "h", LeaseRenewed: &resource.LeaseRenewed{Server: "https://a", CertificateAuthority: "<pem>", Credentials: []resource.KeyPair{{Certificate: "/c"}}}}}}
	whole, err := marshal(newRecord(Entry{Number: 1, Config: "c"}, plan, plan.Resources[3:6], []original{
		{Path: "/etc/a", Kind: apply.RegularFile, Mode: 0o640, UID: 1, Content: []byte{0, 255}}, {Path: "/etc/l", Kind: apply.Symlink, Target: "y"},
	}))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := parseRecord(whole); err != nil {
		f.Fatal(err) // otherwise the fuzz function would test nothing
	}
	for _, seed := range []string{string(whole), "", "null", `{"apiVersion":"slipway.dev/v1","kind":"Generation","number":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		for _, res := range Lasting(r.Resources).Resources {
			if err := res.Spec.Valid(); err != nil {
				t.Fatal(err)
			}
			if file, ok := res.Spec.(*resource.File); ok && len(file.Until) > 0 {
				t.Fatalf("%s is to be applied again", file.Path)
			}
		}
		again(t, r, parseRecord)
		if _, err := Digest(r.Resources); err != nil {
			t.Fatal(err)
		}
	})
}
