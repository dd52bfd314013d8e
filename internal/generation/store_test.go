package generation_test

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/detector"
)

// The complete index, with each generation's data.
func TestIndex(t *testing.T) {
	m := newMachine(t)
	if _, found := m.open().Current(); found || m.list() != "" {
		t.Error("there is a generation on a fresh machine")
	}
	s, first := m.begin(generation.Entry{Origin: generation.Provision, Revision: 3}, wanted("c1", file("/etc/a", "a")))
	equal(t, "while it is applied", m.list(), "1 applying")
	if err := s.Finish(generation.Good, "", clock.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	m.advance(wanted("c2", file("/etc/a", "b")), generation.Failed)
	s, third := m.begin(generation.Entry{Origin: generation.Rollback, Restores: 1, Revision: 3, ConfirmBy: clock.Add(time.Hour)}, wanted("c1", file("/etc/a", "a")))
	if err := s.Finish(generation.Good, "a \"reason\" <&>", clock.Add(3*time.Second)); err != nil {
		t.Fatal(err)
	}
	second, _ := m.open().Find(2)
	want := `{"apiVersion":"slipway.dev/v1","kind":"GenerationIndex","generations":[` +
		`{"number":1,"config":"c1","revision":3,"dialect":"native","plan":"` + first.Plan + `","origin":"provision","provisioned":"c1","outcome":"good","startedAt":"2026-11-20T12:00:00Z","finishedAt":"2026-11-20T12:00:02Z"},` +
		`{"number":2,"config":"c2","dialect":"native","plan":"` + second.Plan + `","origin":"apply","provisioned":"c1","outcome":"failed","startedAt":"2026-11-20T12:00:00Z","finishedAt":"2026-11-20T12:00:00Z"},` +
		`{"number":3,"config":"c1","revision":3,"dialect":"native","plan":"` + third.Plan + `","origin":"rollback","restores":1,"provisioned":"c1","outcome":"good","reason":"a \"reason\" <&>","startedAt":"2026-11-20T12:00:00Z","finishedAt":"2026-11-20T12:00:03Z","confirmBy":"2026-11-20T13:00:00Z"}]}` + "\n"
	equal(t, "the index", m.read(generation.Dir+"/index.json"), want)
	if first.Plan != third.Plan || first.Plan == second.Plan || len(first.Plan) != 64 {
		t.Errorf("plans are called %s, %s, %s", first.Plan, second.Plan, third.Plan)
	}
	equal(t, "files", m.names(), "000001.json 000002.json 000003.json index.json")
}

// Existing and missing generations.
func TestFind(t *testing.T) {
	m := newMachine(t)
	if _, found := m.open().LastGood(); found {
		t.Error("there is a good generation on a fresh machine")
	}
	for i, outcome := range []generation.Outcome{generation.Good, generation.Failed, generation.Good, generation.Failed} {
		m.advance(wanted("c", file("/etc/a", string(rune('a'+i)))), outcome)
	}
	s := m.open()
	for number := range 7 {
		if e, found := s.Find(number); found != (number >= 1 && number <= 4) || found && e.Number != number {
			t.Errorf("%d: %+v, %t", number, e, found)
		}
	}
	if e, found := s.LastGood(); !found || e.Number != 3 {
		t.Errorf("the last good is %+v, %t", e, found)
	}
	if e, found := s.Current(); !found || e.Number != 4 {
		t.Errorf("the current is %+v, %t", e, found)
	}
	s.Entries()[0].Number = 17 // the caller owns the list
	if _, found := s.Find(1); !found {
		t.Error("who asked for the generations has changed them")
	}
	if _, err := s.Plan(5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a plan that is not there: %v", err)
	}
}

// Until a generation on trial is confirmed, a rollback does not go back to it.
func TestConfirm(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c1", file("/etc/a", "a")), generation.Good)
	m.advanceAs(generation.Entry{ConfirmBy: clock.Add(time.Minute)}, wanted("c2", file("/etc/a", "b")), generation.Good)
	if e, _ := m.open().LastGood(); e.Number != 1 {
		t.Errorf("the last good is %+v", e)
	}
	if err := m.open().Await(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if e, _ := m.open().LastGood(); e.Number != 2 || !e.ConfirmBy.IsZero() {
		t.Errorf("the last good is %+v", e)
	}
}

// If the current generation's plan begins again, it keeps its number, and the highest revision of its author. Another
// plan, or the same plan of another config, is another generation.
func TestTakenUpAgain(t *testing.T) {
	m := newMachine(t)
	a, b := file("/etc/a", "a"), file("/etc/a", "b")
	for _, c := range []struct {
		config   string
		of       resource.Resource
		revision int64
		number   int
		want     int64
	}{{"c1", a, 2, 1, 2}, {"c1", a, 1, 1, 2}, {"c1", a, 5, 1, 5}, {"c1", b, 5, 2, 5}, {"c1", b, 0, 2, 5}, {"c1", a, 1, 3, 1}, {"c2", a, 1, 4, 1}, {"c2", a, 1, 4, 1}} {
		s := m.open()
		next, err := s.Next(generation.Entry{}, wanted(c.config, c.of))
		if err != nil {
			t.Fatal(err)
		}
		_, e := m.begin(generation.Entry{Revision: c.revision}, wanted(c.config, c.of))
		if e.Number != c.number || next != c.number || e.Revision != c.want || e.Outcome != generation.Applying {
			t.Errorf("%+v: %+v, foretold was %d", c, e, next)
		}
	}
	equal(t, "files", m.names(), "000001.json 000002.json 000003.json 000004.json index.json")
}

// The config of the last provisioning is known as long as there is a generation.
func TestProvisioned(t *testing.T) {
	m := newMachine(t)
	m.advanceAs(generation.Entry{Origin: generation.Provision}, wanted("boot", file("/etc/a", "a")), generation.Good)
	for i := range 30 {
		m.advance(wanted("later", file("/etc/a", strings.Repeat("b", i))), generation.Good)
	}
	if e, _ := m.open().Current(); e.Provisioned != "boot" || e.Config != "later" {
		t.Errorf("%+v", e)
	}
	m.advanceAs(generation.Entry{Origin: generation.Provision}, wanted("other", file("/etc/a", "c")), generation.Good)
	if e, _ := m.open().Current(); e.Provisioned != "other" {
		t.Errorf("%+v", e)
	}
}

// Secrets are restored completely, whatever their bytes. The credential that a node joins with, and a check's token,
// are not recorded. Only the superuser can read the records, whatever the umask.
func TestSecretsAreKept(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	m := newMachine(t)
	const key, token, joining = "key \x00\xff\xfe \u2028 <&>", "check-token", "joining-token"
	check := resource.Resource{Phase: resource.Join, Spec: &resource.Check{Label: "api", APIServer: &resource.APIServer{Server: "https://a", Token: resource.Hidden{Secret: nodeconfig.NewSecret(token)}}}}
	p := wanted("c", secret("/etc/key", key), secret("/etc/empty", ""), file("/etc/plain", "p\xff"), credential("/etc/boot", joining, "/etc/own"), check)
	m.advance(p, generation.Good)
	if got := m.read("/etc/boot"); got != joining {
		t.Fatalf("the credential is %q", got)
	}
	kept, err := m.open().Plan(1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what is kept", ids(kept.Resources), "Check:api File:/etc/empty File:/etc/key File:/etc/plain")
	for _, r := range kept.Resources {
		switch spec := r.Spec.(type) {
		case *resource.File:
			equal(t, spec.Path, string(spec.Content), map[string]string{"/etc/key": key, "/etc/empty": "", "/etc/plain": "p\xff"}[spec.Path])
		case *resource.Check:
			if !spec.APIServer.Token.IsZero() {
				t.Error("a check has a token")
			}
		}
	}
	before, _ := generation.Digest(p)
	after, _ := generation.Digest(kept)
	equal(t, "the plan that comes back", after, before)
	for _, name := range strings.Fields(m.names()) {
		content := m.read(generation.Dir + "/" + name)
		if strings.Contains(content, token) || strings.Contains(content, joining) {
			t.Errorf("%s has a token: %s", name, content)
		}
		if info, err := os.Stat(m.root + generation.Dir + "/" + name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if check.Spec.(*resource.Check).APIServer.Token.Reveal() != token {
		t.Error("the plan itself has changed")
	}
}

// A plan's digest changes with each of its contents, secret ones too, but not with the credential.
func TestDigest(t *testing.T) {
	of := func(resources ...resource.Resource) string {
		digest, err := generation.Digest(wanted("c", resources...))
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	key := secret("/etc/key", "a")
	seen := map[string]bool{}
	for _, digest := range []string{of(), of(key), of(secret("/etc/key", "b")), of(file("/etc/key", "a")), of(key, file("/etc/x", ""))} {
		if seen[digest] {
			t.Error("two plans have the same name")
		}
		seen[digest] = true
	}
	other, _ := generation.Digest(resource.Plan{Config: "other", Dialect: "aks", Resources: []resource.Resource{key}})
	equal(t, "of another config", other, of(key))
	equal(t, "with a credential", of(key, credential("/etc/boot", "t1", "/etc/own")), of(key))
}

// If a generation cannot be recorded, it does not begin. If a file cannot be removed, that is not a failure.
func TestDiskIsFull(t *testing.T) {
	m := newMachine(t)
	m.advance(wanted("c", file("/etc/a", "a")), generation.Good)
	for _, name := range []string{"000002.json", "index.json"} {
		m.before = func(op, path string) error {
			if op == "WriteFileAtomic" && path == generation.Dir+"/"+name {
				return syscall.ENOSPC
			}
			return nil
		}
		if _, err := m.open().Begin(t.Context(), generation.Entry{}, wanted("c", file("/etc/a", "b"))); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.before = func(string, string) error { return nil }
	equal(t, "generations", m.list(), "1 good")
	// A record that is not in the index is overwritten.
	equal(t, "the next", m.advance(wanted("c", file("/etc/a", "c")), generation.Good), 2)
	p, err := m.open().Plan(2)
	if err != nil || string(p.Resources[0].Spec.(*resource.File).Content) != "c" {
		t.Errorf("%v, %v", p, err)
	}
}

// If a plan's record could not be read back, it is not recorded: without a record there is no rollback.
func TestOnlyWhatCanBeReadIsRecorded(t *testing.T) {
	detector.Skip(t)
	for _, path := range []string{"/run/slipway/x", "/var/lib/slipway/x", "/etc/shadow", "/tmp/x", "/etc/../x"} {
		m := newMachine(t)
		m.advance(wanted("c1", file("/etc/a", "a")), generation.Good)
		if _, err := m.open().Begin(t.Context(), generation.Entry{Origin: generation.Apply}, wanted("c2", file(path, "x"))); err == nil {
			t.Errorf("%s is recorded", path)
		}
		equal(t, path, m.list(), "1 good")
	}
	m := newMachine(t)
	unwell := wanted("c", file("/etc/a", "a"))
	unwell.Health = []resource.Resource{file("/etc/b", "b")}
	if _, err := m.open().Begin(t.Context(), generation.Entry{Origin: generation.Apply}, unwell); err == nil || !strings.Contains(err.Error(), "health") {
		t.Errorf("a file among the health checks is recorded: %v", err)
	}
	// A record that would be too large for its reader is not written.
	limit := int(state.Generation(1).Limit)
	for _, c := range []struct {
		size int
		fits bool
	}{{limit / 2, true}, {limit, false}} {
		m := newMachine(t)
		p := wanted("c", file("/etc/a", "a"))
		p.Health = []resource.Resource{asked(strings.Repeat("b", c.size))}
		if _, err := m.open().Begin(t.Context(), generation.Entry{Origin: generation.Apply}, p); (err == nil) != c.fits {
			t.Errorf("a health check of %d bytes: %v", c.size, err)
		}
		if _, err := m.open().Plan(1); (err == nil) != c.fits {
			t.Errorf("a health check of %d bytes is read: %v", c.size, err)
		}
	}
}

// asked is a health check with a server's certificate.
func asked(authority string) resource.Resource {
	return resource.Resource{Phase: resource.Join, ExitCode: 34, Reason: "the node is seen", Spec: &resource.Check{
		Label: "health", Timeout: resource.Duration(time.Second), LeaseRenewed: &resource.LeaseRenewed{Server: "https://a", CertificateAuthority: authority},
	}}
}

// A node's health checks are restored with its plan, and are not part of the plan's digest.
func TestHealthIsKept(t *testing.T) {
	m := newMachine(t)
	p := wanted("c", file("/etc/a", "a"))
	before, _ := generation.Digest(p)
	p.Health = []resource.Resource{asked("<pem>")}
	after, _ := generation.Digest(p)
	equal(t, "the digest", after, before)
	m.advance(p, generation.Good)
	kept, err := m.open().Plan(1)
	if err != nil || !reflect.DeepEqual(kept.Health, p.Health) {
		t.Errorf("%v, %+v", err, kept.Health)
	}
}
