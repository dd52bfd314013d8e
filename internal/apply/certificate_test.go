package apply_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// hostName is the name that a machine gets while it is provisioned.
const hostName = "node-1"

func (m *memory) NodeName() (string, error) {
	err := m.enter("name", "")
	defer m.mu.Unlock()
	if m.name == "" {
		return hostName, err
	}
	return m.name, err
}

func (m *memory) RequestCertificate(ctx context.Context, c *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
	err := m.enter("request", c.Label)
	issue := m.issue
	if issue != nil {
		m.joins = c
	}
	m.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case issue == nil:
		return nil, apply.ErrNotProbed
	}
	return issue(ctx, c, ready)
}

// issues is an API server that issues every requested certificate.
func issues(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
	return &apply.Issued{Pair: pairFor(hostName), Node: hostName}, nil
}

// joining is an empty machine with such a server. A kubelet requests the same certificate from it.
func joining(c *resource.Certificate) *memory {
	m := newMemory()
	m.issue, m.joins = issues, c
	return m
}

// pairFor stands for a certificate and its key.
func pairFor(node string) []byte { return []byte("certificate for " + node) }

// join does what a starting kubelet does that has not joined. The lock is held.
func (m *memory) join(unit string) {
	c := m.joins
	if c == nil || unit != c.Unit || m.files[c.Kubeconfig].Kind != apply.Absent {
		return
	}
	for name := range pairs(m.files, c) {
		delete(m.files, name)
	}
	pair := &resource.File{Path: path.Join(c.Directory, tlsbootstrap.PairName(time.Now())), Mode: 0o600, Content: pairFor(hostName), Secret: true}
	link := path.Join(c.Directory, tlsbootstrap.Current)
	m.parents(link)
	m.files[pair.Path] = fileEntry(pair)
	m.files[link] = entry{Entry: apply.Entry{Kind: apply.Symlink, Mode: 0o777, Target: pair.Path, Owned: true}}
	m.files[c.Kubeconfig] = fileEntry(&resource.File{Path: c.Kubeconfig, Mode: 0o600, Content: []byte(c.KubeconfigContent)})
}

// pairs are the files with a kubelet's pairs.
func pairs(files map[string]entry, c *resource.Certificate) map[string]entry {
	found := maps.Clone(files)
	maps.DeleteFunc(found, func(name string, _ entry) bool {
		return path.Dir(name) != c.Directory || !tlsbootstrap.IsPairName(path.Base(name))
	})
	return found
}

// isJoined requires one pair, with a link to it, and the kubeconfig.
func isJoined(m *memory, spec resource.Spec) bool {
	c := spec.(*resource.Certificate)
	if m.issue == nil {
		return m.files[c.Kubeconfig].Kind == apply.Absent
	}
	if string(m.files[c.Kubeconfig].content) != c.KubeconfigContent || m.files[c.Kubeconfig].Mode != 0o600 {
		return false
	}
	all := pairs(m.files, c)
	have := all[m.files[path.Join(c.Directory, tlsbootstrap.Current)].Target]
	return len(all) == 1 && string(have.content) == string(pairFor(hostName)) && have.Mode == 0o600
}

// lasting are the files, with a fixed name for the pair, whose real name contains the time.
func (m *memory) lasting() map[string]entry {
	files := maps.Clone(m.files)
	if c := m.joins; c != nil {
		link := path.Join(c.Directory, tlsbootstrap.Current)
		if e := files[link]; e.Kind == apply.Symlink {
			pair, ok := files[e.Target]
			delete(files, e.Target)
			e.Target = "the pair"
			if files[link] = e; ok {
				files[e.Target] = pair
			}
		}
	}
	return files
}

// steady is a name without the time in it.
func steady(name string) string {
	if dir, base := path.Split(name); tlsbootstrap.IsPairName(base) {
		return dir
	}
	return name
}

// tokenPlan is a plan for a node with a bootstrap token and nothing else: the certificate, a runtime that it does not
// wait for, and the kubelet.
func tokenPlan() (resource.Plan, *resource.Certificate) {
	c := &resource.Certificate{
		Label:             "kubelet-client",
		APIServer:         resource.APIServer{Server: "https://api.example", Token: resource.Hidden{Secret: nodeconfig.NewSecret("abcdef.0123456789abcdef")}},
		Directory:         "/var/lib/kubelet/pki",
		Kubeconfig:        "/var/lib/kubelet/kubeconfig",
		KubeconfigContent: "joined",
		Unit:              "kubelet.service",
		ExitCodes:         map[resource.Cause]int{resource.CauseDenied: 221},
	}
	kubelet := started(c.Unit, "Unit:containerd.service")
	kubelet.After = []resource.ID{resource.IDOf(c)}
	return with(resource.Resource{Phase: resource.Join, Spec: c}, started("containerd.service"), kubelet), c
}

func failedFor(cause resource.Cause) error {
	return &apply.CheckError{Cause: cause, Endpoint: "https://api.example", Err: errors.New("was denied")}
}

// byCommand makes a command of the contract's author start the kubelet of a plan (commands, replaces).
func byCommand(p resource.Plan, unit string) resource.Plan {
	for i, r := range p.Resources {
		if spec, ok := r.Spec.(*resource.Unit); ok && spec.Unit == unit {
			p.Resources[i].Spec = &resource.Command{Label: "command-1", Argv: []string{"systemctl", "enable", "--now", unit}, Once: "once"}
		}
	}
	p.Sort()
	return p
}

// startedByCommand makes that command start the unit on a machine.
func startedByCommand(m *memory, unit string) {
	m.run = func(ctx context.Context, _ *resource.Command) ([]byte, error) { return nil, m.StartUnit(ctx, unit) }
}

// certificateCase is a machine and its changes.
type certificateCase struct {
	// command reports whether a command starts the kubelet.
	command bool
	prepare func(*memory, *resource.Certificate)
	// calls are the changing calls, and the requests.
	calls []string
	// changes and skipped are the report's.
	changes, skipped []string
	err              error
}

var errRequestDenied = failedFor(resource.CauseDenied)

// fails makes the API server issue no certificate.
func fails(err error) func(*memory, *resource.Certificate) {
	return func(m *memory, _ *resource.Certificate) {
		m.issue = func(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
			return &apply.Issued{Steps: []apply.Step{{Name: "certificate request"}}}, err
		}
	}
}

// The calls that the cases have in common.
var (
	pairLink   = "/var/lib/kubelet/pki/" + tlsbootstrap.Current
	writesPair = []string{"stage <pair>", "commit <pair>", "sync"}
	linksPair  = append([]string{"request kubelet-client", "symlink " + pairLink, "sync"}, writesPair...)
	joinsNode  = []string{"start containerd.service", "stage /var/lib/kubelet/kubeconfig", "commit /var/lib/kubelet/kubeconfig", "sync", "start kubelet.service"}
	starts     = []string{"start containerd.service", "start kubelet.service"}
	bothStart  = []string{"started Unit:containerd.service", "started Unit:kubelet.service"}
	joined     = append(slices.Clone(bothStart), "created Certificate:kubelet-client")

	runsCommand     = []string{"run command-1", "start kubelet.service", "stage /var/lib/slipway/commands", "commit /var/lib/slipway/commands", "sync"}
	commandRan      = []string{"ran Command:command-1", "started Unit:containerd.service"}
	joinedByCommand = []string{"ran Command:command-1", "started Unit:containerd.service", "created Certificate:kubelet-client"}
)

// linkTo is a link with that target.
func linkTo(target string) func(*memory, *resource.Certificate) {
	return func(m *memory, _ *resource.Certificate) {
		m.files[pairLink] = entry{Entry: apply.Entry{Kind: apply.Symlink, Mode: 0o777, Target: target, Owned: true}}
	}
}

var certificateCases = map[string]certificateCase{
	"a new node": {
		prepare: func(*memory, *resource.Certificate) {},
		calls:   slices.Concat(linksPair, joinsNode),
		changes: joined,
	},
	"a node that has joined": {
		prepare: func(m *memory, c *resource.Certificate) {
			m.files[c.Kubeconfig] = fileEntry(&resource.File{Mode: 0o600, Content: []byte("another's")})
		},
		calls:   starts,
		changes: bothStart,
	},
	"a kubelet that runs asks itself": {
		prepare: func(m *memory, c *resource.Certificate) { m.units[c.Unit] = &unit{"active", nil} },
		calls:   []string{"start containerd.service"},
		changes: []string{"started Unit:containerd.service"},
	},
	"a kubelet that is being started asks itself": {
		prepare: func(m *memory, c *resource.Certificate) { m.units[c.Unit] = &unit{"activating", nil} },
		calls:   starts,
		changes: bothStart,
	},
	"a plan from a record": {
		prepare: func(_ *memory, c *resource.Certificate) {
			c.APIServer.Token = resource.Hidden{Secret: nodeconfig.NewSecret(nodeconfig.Redacted)}
		},
		calls:   starts,
		changes: bothStart,
	},
	"a host without an API server": {
		prepare: fails(apply.ErrNotProbed),
		calls:   append([]string{"request kubelet-client"}, starts...),
		changes: bothStart,
		skipped: []string{"Certificate:kubelet-client"},
	},
	"a server that is not there is the kubelet's to ask": {
		prepare: fails(failedFor(resource.CauseConnection)),
		calls:   append([]string{"request kubelet-client"}, starts...),
		changes: bothStart,
		skipped: []string{"Certificate:kubelet-client"},
	},
	"a token that has expired since is for the API server's check to say": {
		prepare: fails(failedFor(resource.CauseCredential)),
		calls:   append([]string{"request kubelet-client"}, starts...),
		changes: bothStart,
		skipped: []string{"Certificate:kubelet-client"},
	},
	// The kubelet goes on requesting, and if its request is allowed later, the node joins.
	"a request that is denied": {
		prepare: fails(errRequestDenied),
		calls:   append([]string{"request kubelet-client"}, starts...),
		changes: bothStart,
		err:     errRequestDenied,
	},
	"the host gets another name": {
		prepare: func(m *memory, _ *resource.Certificate) { m.name = "node-2" },
		calls:   slices.Concat(linksPair, []string{"start containerd.service", "remove <pair>", "remove " + pairLink, "sync", "start kubelet.service"}),
		changes: bothStart,
	},
	"the host's name does not count": {
		prepare: func(m *memory, c *resource.Certificate) { m.name, c.Node = "node-2", hostName },
		calls:   slices.Concat(linksPair, joinsNode),
		changes: joined,
	},
	"a run before this one died after the link": {
		prepare: linkTo("/var/lib/kubelet/pki/kubelet-client-2026-01-02-03-04-05.pem"),
		calls:   slices.Concat([]string{"request kubelet-client"}, writesPair, joinsNode),
		changes: joined,
	},
	"a link to elsewhere": {
		prepare: linkTo("/etc/shadow"),
		calls:   slices.Concat(linksPair, joinsNode),
		changes: joined,
	},
	"a command starts the kubelet": {
		command: true,
		prepare: func(*memory, *resource.Certificate) {},
		calls:   slices.Concat(linksPair, joinsNode[:4], runsCommand),
		changes: joinedByCommand,
	},
	"a command starts the kubelet, and the host gets another name": {
		command: true,
		prepare: func(m *memory, _ *resource.Certificate) { m.name = "node-2" },
		calls:   slices.Concat(linksPair, joinsNode[:1], []string{"remove <pair>", "remove " + pairLink, "sync"}, runsCommand),
		changes: commandRan,
	},
	"a command has started the kubelet, and is not run again": {
		command: true,
		prepare: func(m *memory, _ *resource.Certificate) { has("/var/lib/slipway/commands", "once\n")(m) },
		calls:   []string{"start containerd.service"},
		changes: bothStart[:1],
	},
	"a command starts the kubelet, and the request is denied": {
		command: true,
		prepare: fails(errRequestDenied),
		calls:   slices.Concat([]string{"request kubelet-client", "start containerd.service"}, runsCommand),
		changes: commandRan,
		err:     errRequestDenied,
	},
}

func TestCertificate(t *testing.T) {
	for name, c := range certificateCases {
		t.Run(name, func(t *testing.T) {
			p, certificate := tokenPlan()
			m := joining(nil)
			if c.command {
				p = byCommand(p, certificate.Unit)
				startedByCommand(m, certificate.Unit)
			}
			c.prepare(m, certificate)
			report, err := engine(m).Apply(t.Context(), p)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			equal(t, "calls", certificateCalls(m), c.calls)
			equal(t, "changes", changes(report), c.changes)
			equal(t, "skipped", names(report.Skipped), c.skipped)
		})
	}
}

// certificateCalls are the requests and the changing calls except those for the record of the intent. The name of a
// pair, which contains the time, is written <pair>.
func certificateCalls(m *memory) []string {
	var list []string
	for _, c := range m.calls {
		placed := len(list) > 0 && (strings.HasPrefix(list[len(list)-1], "symlink ") || strings.HasPrefix(list[len(list)-1], "commit ") ||
			strings.HasPrefix(list[len(list)-1], "remove "))
		if c.name == intentPath || !c.changes() && c.op != "request" && c.op != "stage" || c.op == "sync" && !placed {
			continue
		}
		if dir, base := path.Split(c.name); tlsbootstrap.IsPairName(base) && dir == "/var/lib/kubelet/pki/" {
			c.name = "<pair>"
		}
		list = append(list, c.String())
	}
	return list
}

// systemd answers slowly during boot. It is asked about the kubelet once before the plan is compared, for all that need
// to know whether the kubelet joins by itself, and once right before the agent starts it.
func TestSystemdIsAskedTwiceOfTheKubelet(t *testing.T) {
	m := newMemory()
	plan, c := tokenPlan()
	if _, err := engine(m).Apply(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, call := range m.calls {
		if call.String() == "state "+c.Unit {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// The certificate is requested while the runtime starts, and the request knows when the kubelet would wait for nothing
// else, whether its unit or a command starts it.
func TestCertificateIsAskedForMeanwhile(t *testing.T) {
	for _, command := range []bool{false, true} {
		t.Run(fmt.Sprintf("by a command: %v", command), func(t *testing.T) {
			p, c := tokenPlan()
			m := newMemory()
			if command {
				p = byCommand(p, c.Unit)
				startedByCommand(m, c.Unit)
			}
			synctest.Test(t, func(t *testing.T) { askedMeanwhile(t, m, p) })
		})
	}
}

func askedMeanwhile(t *testing.T, m *memory, p resource.Plan) {
	t.Helper()
	asked := make(chan struct{})
	m.before = func(c call) error {
		if c.op == "start" && c.name == "containerd.service" {
			<-asked // the runtime is up only once the request has begun
		}
		return nil
	}
	m.issue = func(_ context.Context, _ *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
		synctest.Wait()
		select {
		case <-ready:
			t.Error("ready is closed although the runtime is not started")
		default:
		}
		close(asked)
		<-ready
		return &apply.Issued{Pair: pairFor(hostName), Node: hostName}, nil
	}
	e := engine(m)
	e.Sequential = false
	if _, err := e.Apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	converged(t, m, p)
}

// The log explains why the kubelet requests the certificate itself.
func TestCertificateLeftToTheKubelet(t *testing.T) {
	p, _ := tokenPlan()
	m := newMemory()
	m.issue = func(context.Context, *resource.Certificate, <-chan struct{}) (*apply.Issued, error) {
		return nil, failedFor(resource.CauseConnection)
	}
	var log strings.Builder
	e := engine(m)
	e.Log = slog.New(slog.NewTextHandler(&log, nil))
	if _, err := e.Apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if said := log.String(); !strings.Contains(said, "the kubelet asks for it") || !strings.Contains(said, "api.example") {
		t.Errorf("the log has only %q", said)
	}
}

// A write that fails while the certificate is installed fails the run, names the file, and leaves no kubelet with half
// of its files: it has not started, or has requested its certificate itself.
func TestCertificateCannotBeWritten(t *testing.T) {
	p, certificate := tokenPlan()
	clean := joining(certificate)
	applied(t, clean, p)
	tried := 0
	for n, c := range clean.calls {
		if c.op == "start" || c.name == intentPath || !c.changes() && c.op != "stage" && c.op != "sync" {
			continue
		}
		tried++
		m := joining(certificate)
		err := interrupt(m, p, func(at int, _ call) error {
			if at == n+1 {
				return fmt.Errorf("%s: %w", c, io.ErrShortWrite)
			}
			return nil
		})
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s fails, and the run ends with %v", c, err)
		}
		if slices.Contains(m.changed(), "start kubelet.service") && !isJoined(m, certificate) {
			t.Errorf("%s fails, and the kubelet has started with half of it", c)
		}
	}
	if tried < 8 {
		t.Errorf("only %d calls were tried", tried)
	}
}
