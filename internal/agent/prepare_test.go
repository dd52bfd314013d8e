package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

const baseContract = `apiVersion: slipway.dev/v1
kind: NodeConfig
join: {method: None}
components: {layout: aks}
`

// boot provisions as the service does: it waits for a contract.
func (n *node) boot(with ...func(*ProvisionOptions)) *status.Status {
	n.Helper()
	opts := ProvisionOptions{Facts: ubuntu(n.T), Wait: 10 * time.Second}
	for _, set := range with {
		set(&opts)
	}
	return n.Provision(context.Background(), opts)
}

func (n *node) actions() []string {
	n.Helper()
	return strings.Split(strings.TrimSpace(string(n.read("/run/slipway/actions.jsonl"))), "\n")
}

// The work that needs no contract is done before there is one. The contract then adds only the rest.
func TestPrepared(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(place.BaseContracts[0], []byte(baseContract))
	n.host.before = func(op, name string) error {
		if op == "StartUnit" && name == "containerd.service" && !n.exists(aksContract) {
			n.deliver(aksContract, example(t, "aks/minimal.json"))
		}
		return nil
	}
	got := n.boot()
	if got.ExitCode != 0 || got.Generation != 2 {
		t.Fatalf("%v, generation %d", got.Error, got.Generation)
	}
	for _, change := range got.Changes {
		if change.ID == "File:/etc/systemd/system/containerd.service" {
			t.Errorf("%s %s, which the image's own contract has brought", change.ID, change.Action)
		}
	}
	if !slices.ContainsFunc(got.Steps, func(s status.Step) bool { return s.Name == "base" }) {
		t.Errorf("the steps are %v", got.Steps)
	}
	before := len(n.actions())
	if got := n.boot(); got.ExitCode != 0 || len(got.Changes) != 0 || got.Generation != 2 || len(n.actions()) != before {
		t.Errorf("the next boot: %v, %v, generation %d, did %v", got.Error, got.Changes, got.Generation, n.actions()[before:])
	}
}

// What the image's contract has applied is not compared again while the agent waits for the machine's contract.
func TestPreparedByTheImage(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(place.BaseContracts[0], []byte(baseContract))
	if got := n.boot(func(o *ProvisionOptions) { o.Wait = time.Second }); got.ExitCode == 0 {
		t.Fatal("there is a node without a contract")
	}
	var once sync.Once
	var looks atomic.Int32
	n.host.before = func(op, name string) error {
		switch {
		case op == "ReadFile" && name == aksContract:
			looks.Add(1)
		case op == "ReadFile" && name == place.BaseContracts[0]:
			t.Error("the image's own contract is read")
			fallthrough
		case op == "ReadFile" && name == state.Index.Path && looks.Load() > 0: // the check whether a generation exists
			go once.Do(func() { n.deliver(aksContract, example(t, "aks/minimal.json")) })
		}
		return nil
	}
	got := n.boot()
	steps := func(name string) bool {
		return slices.ContainsFunc(got.Steps, func(s status.Step) bool { return s.Name == name })
	}
	if got.ExitCode != 0 || got.Generation != 2 || steps("base") || !steps(outcome.StepBase) {
		t.Errorf("%v, generation %d, steps %v", got.Error, got.Generation, got.Steps)
	}
}

// Warnings about the image's contract are in the machine's status, under that contract's path.
func TestPreparedWithWarnings(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(place.BaseContracts[0], []byte(baseContract+"system:\n  unheardOf: true\n  localStorage: {strategy: RAID0}\n"))
	n.host.before = func(op, name string) error {
		if op == "StartUnit" && name == "containerd.service" && !n.exists(aksContract) {
			n.deliver(aksContract, example(t, "aks/minimal.json"))
		}
		return nil
	}
	got := n.boot()
	var of []string
	for _, p := range got.Problems {
		if p.Document != "" {
			of = append(of, string(p.Kind)+" "+p.Where())
		}
	}
	slices.Sort(of)
	want := []string{"NotApplied " + place.BaseContracts[0] + ": $.system.localStorage", "Unknown " + place.BaseContracts[0] + ": $.system.unheardOf"}
	if got.ExitCode != 0 || !slices.Equal(of, want) {
		t.Errorf("%v: problems of another document: %q, want %q", got.Error, of, want)
	}
	if last, err := n.LastStatus(); err != nil || !slices.Equal(last.Problems, got.Problems) {
		t.Errorf("the status has %v, %v", last.Problems, err)
	}
}

// If the image's contract is invalid, that is reported, and the machine's contract is applied all the same.
func TestNotPrepared(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]string{
		"no document":     "{",
		"joins a cluster": string(example(t, "native/full.yaml")),
	} {
		n := newNode(t)
		n.deliver(place.BaseContracts[0], []byte(base))
		var once sync.Once
		n.host.before = func(op, name string) error {
			if op == "ReadFile" && name == place.BaseContracts[0] {
				go once.Do(func() { n.deliver(aksContract, example(t, "aks/minimal.json")) })
			}
			return nil
		}
		if got := n.boot(); got.ExitCode != 0 || got.Generation != 1 {
			t.Errorf("%s: %v, generation %d", name, got.Error, got.Generation)
		}
		if !strings.Contains(n.log.String(), place.BaseContracts[0]) {
			t.Errorf("%s: the log is %s", name, n.log)
		}
	}
}

// While the agent waits for a contract, the result of an earlier failed boot is not published. A success stays
// published.
func TestRetractedFailure(t *testing.T) {
	t.Parallel()
	for code, stands := range map[string]bool{"0": true, "51": false} {
		n := newNode(t)
		n.deliver(aksPlace.result.Path, []byte(`{"ExitCode": "`+code+`"}`))
		n.deliver(aksPlace.complete, nil)
		n.host.before = func(op, name string) error {
			if op == "ReadFile" && name == aksContract && n.exists(aksPlace.complete) != stands {
				t.Errorf("%s: the marker is there: %v", code, !stands)
			}
			return nil
		}
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		if got := n.boot(); got.ExitCode != 0 {
			t.Error(got.Error)
		}
	}
}

// A search without a contract publishes a failure with every place and the reason of each.
func TestNoContract(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	got := n.boot(func(o *ProvisionOptions) { o.Wait = time.Second })
	n.published(aksPlace, 240)
	var names []string
	for _, s := range got.Sources {
		if names = append(names, s.Name); s.Found || s.Result == "" {
			t.Errorf("%+v", s)
		}
	}
	if !slices.Contains(names, source.FileSource) || !slices.Contains(names, "nocloud-disk") {
		t.Errorf("looked at %v", names)
	}
}

// clouds is a cloud that counts the reports it gets.
type clouds struct {
	ready, failed int
	said          string
	err           error
	// during is called while the machine is reported ready.
	during func()
	// authorities are the wire server's answer, once it is there; refusal replaces it.
	authorities facts.Authorities
	refusal     error
	regions     []string
	// service is the metadata service. It may be nil.
	service source.Service
}

func (c *clouds) Service(string) source.Service { return c.service }
func (c *clouds) Fetch(context.Context, string, string) ([]byte, error) {
	return nil, errors.New("there is no seed")
}
func (c *clouds) Authorities(_ context.Context, region string) (facts.Authorities, error) {
	c.regions = append(c.regions, region)
	return c.authorities, c.refusal
}
func (c *clouds) ReportReady(context.Context) error {
	c.ready++
	if c.during != nil {
		c.during()
	}
	return c.err
}
func (c *clouds) ReportFailure(_ context.Context, text string) error {
	c.failed, c.said = c.failed+1, text
	return c.err
}

// The agent reports the end to Azure once, and only if no other program reports it.
func TestReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		platform              string
		cloudInit, agent, bad bool
		err                   error
		ready, failed, next   int
	}{
		{name: "Azure, no other reporter", platform: "azure", ready: 1},
		{name: "a failure", platform: "azure", bad: true, failed: 1, next: 1},
		{name: "not to be reached", platform: "azure", err: errors.New("down"), ready: 1, next: 1},
		{name: "cloud-init reports", platform: "azure", cloudInit: true},
		{name: "the guest agent reports", platform: "azure", agent: true},
		{name: "another cloud", platform: "ec2"},
	} {
		n := newNode(t)
		told := &clouds{err: c.err}
		n.Cloud = told
		known := machineOf(t, "m1", "u1")
		known.Platform, known.CloudInit, known.GuestAgent = c.platform, c.cloudInit, c.agent
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		if c.bad {
			n.deliver(aksContract, []byte(`{"version": "v1"}`))
		}
		n.on(known)
		if told.ready != c.ready || told.failed != c.failed || (told.said != "") != c.bad {
			t.Errorf("%s: ready %d times, failed %d times: %q", c.name, told.ready, told.failed, told.said)
		}
		*told = clouds{}
		if n.on(known); told.ready+told.failed != c.next {
			t.Errorf("%s: the next boot reports %d times", c.name, told.ready+told.failed)
		}
	}
}

// The agent reports to the platform after it has given back the lock. It then takes the lock again to record the
// report, and adds that to the record of that time.
func TestReportedIsAddedToTheRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		written identity.Record // by another run meanwhile
		want    bool
	}{
		"the same machine": {identity.Record{MachineID: "m1", ProductUUID: "u1", Sum: "another contract's"}, true},
		"another machine":  {identity.Record{MachineID: "m2", ProductUUID: "u2", Sum: "another contract's"}, false},
	} {
		n := newNode(t)
		locked := false
		n.host.before = func(op, name string) error {
			if op == "WriteFileAtomic" && name == IdentityPath {
				release, err := apply.Lock(expired(t), n.host)
				if locked = err != nil; err == nil {
					return release()
				}
			}
			return nil
		}
		n.Cloud = &clouds{during: func() {
			record, err := json.Marshal(c.written)
			if err != nil {
				t.Fatal(err)
			}
			n.deliver(IdentityPath, record)
		}}
		known := machineOf(t, "m1", "u1")
		known.Platform = facts.Azure
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.on(known)
		var got identity.Record
		if err := json.Unmarshal(n.read(IdentityPath), &got); err != nil {
			t.Fatal(err)
		}
		if got.Reported != c.want || got.Sum != c.written.Sum || got.MachineID != c.written.MachineID {
			t.Errorf("%s: the record is %+v", name, got)
		}
		if !locked {
			t.Errorf("%s: the record was written without the lock", name)
		}
	}
}

// expired is a context that has ended: with it, a call gets the lock at once or fails.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// described is a metadata service that has a description of the machine, and no user data.
type described struct{ said facts.Instance }

func (d described) URL() string                                      { return "http://169.254.169.254/" }
func (d described) UserData(context.Context) ([]byte, error)         { return nil, metadata.ErrNotFound }
func (d described) Instance(context.Context) (facts.Instance, error) { return d.said, nil }

// The recorded facts have the metadata service's description of the machine. A plan from them is the same plan.
func TestDescribed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.Cloud = &clouds{service: described{facts.Instance{Platform: "azure", ID: "i", Type: "Standard_D2s_v5", Hostname: "other"}}}
	n.deliver("/etc/os-release", []byte("ID=ubuntu\nVERSION_ID=24.04\n"))
	n.deliver(credential, example(t, "aks/minimal.json"))
	if got := n.Provision(context.Background(), ProvisionOptions{}); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	recorded, err := facts.Parse(n.read(FactsPath))
	if err != nil || recorded.Instance == nil || recorded.Instance.Type != "Standard_D2s_v5" || recorded.Instance.Hostname != "" {
		t.Errorf("recorded is %+v, %v", recorded.Instance, err)
	}
	if n.exists("/etc/hostname") {
		t.Error("the machine has got a name")
	}
}

// If the plan needs the cloud's description of the interfaces, the agent requests it before it plans.
func TestDescribedBeforePlan(t *testing.T) {
	t.Parallel()
	contract := bytes.Replace(example(t, "aks/minimal.json"), []byte("{"), []byte(`{"network_config": {"standard_secondary_nic_count": 1},`), 1)
	for _, c := range []struct {
		said facts.Instance
		code int
	}{
		{facts.Instance{Platform: "azure", ID: "i", Interfaces: []facts.InstanceInterface{{MAC: "00:0d:3a:00:00:01"}, {MAC: "00:0d:3a:00:00:02"}}}, 0},
		{facts.Instance{Platform: "azure", ID: "i"}, 240},
	} {
		n := newNode(t)
		n.Cloud = &clouds{service: described{c.said}}
		n.deliver("/etc/os-release", []byte("ID=ubuntu\nVERSION_ID=24.04\n"))
		n.deliver(credential, contract)
		got := n.Provision(context.Background(), ProvisionOptions{})
		if got.ExitCode != c.code || n.exists("/etc/systemd/network/10-secondary-nic-1.network") != (c.code == 0) {
			t.Errorf("%+v: exit code %d, %v", c.said, got.ExitCode, got.Error)
		}
	}
}
