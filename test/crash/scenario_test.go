//go:build failpoint

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

const (
	examples     = "../../examples/"
	contractPath = "/opt/azure/containers/aks-node-controller-config.json"
	// seedPath is a path where the agent finds a contract outside its standard path.
	seedPath = "/var/lib/cloud/seed/nocloud/user-data"
)

// scenario is a machine, and a contract for it.
type scenario struct {
	name  string
	facts facts.Facts
	// base is the machine before the run, with the contract delivered.
	base tree
	// want is the machine after an uninterrupted run.
	want tree
	// events are the mutations of that run.
	events []event
	plan   resource.Plan
	// kept reports whether the contract is not delivered to its standard path, but the agent copies it there.
	kept bool
	// joins reports whether there is an API server that issues a certificate to the node.
	joins bool
	// brings reports whether the node downloads components from a server.
	brings bool
}

// fresh is the first provisioning of a machine.
func fresh(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{name: "first", facts: ubuntu(t)}
	s.base = tree{}
	s.deliver(t, example(t, "aks/azure-cni.json"))
	s.learn(t)
	return s
}

// joined is the first provisioning of a machine with an API server that issues its kubelet's certificate.
func joined(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{name: "join", facts: ubuntu(t), joins: true, base: tree{}}
	s.deliver(t, example(t, "aks/minimal.json"))
	s.learn(t)
	return s
}

// changed is a provisioned machine that gets another contract: files of every kind change, some are added, and some are removed.
func changed(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{name: "change", facts: ubuntu(t), base: tree{}}
	for _, version := range []string{"1.26.15", "1.27.16"} { // both versions of the change
		s.facts.Components = append(s.facts.Components, components.Component{Name: "kubelet", Version: version, Path: "/opt/bin/kubelet-" + version})
	}
	s.deliver(t, edited(t, "aks/kubelet-config-file.json", map[string]any{
		"kubernetes_version":     "1.26.15",
		"custom_linux_os_config": map[string]any{},
		"api_server_config":      map[string]any{"api_server_name": "before.hcp.example.azmk8s.io"},
		"bootstrapping_config":   map[string]any{"bootstrapping_auth_method": 1, "tls_bootstrapping_token": "before.0123456789abcdef"},
	}))
	s.learn(t)
	s.base = s.want
	before := s.plan
	s.deliver(t, edited(t, "aks/kubenet.json", map[string]any{"kubernetes_version": "1.27.16"}))
	s.learn(t)
	s.differ(t, before)
	return s
}

// copied is a machine with the disk of another one whose kubelet has joined. Both have their contracts from a seed.
func copied(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{name: "copied disk", kept: true, facts: ubuntu(t), base: tree{}}
	s.facts.MachineID, s.facts.DMI.ProductUUID = "m1", "u1"
	s.deliverAt(t, seedPath, example(t, "aks/azure-cni.json"))
	s.learn(t)
	s.base = s.want
	s.facts.MachineID, s.facts.DMI.ProductUUID = "m2", "u2"
	for _, path := range []string{"/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/pki/kubelet-client-current.pem", "/var/lib/kubelet/pki/kubelet.crt"} {
		s.put(t, path, []byte("the other machine's"))
	}
	s.deliverAt(t, seedPath, edited(t, "aks/azure-cni.json", map[string]any{
		"bootstrapping_config": map[string]any{"tls_bootstrapping_token": "copied.0123456789abcdef"},
	}))
	s.learn(t)
	for path := range s.want {
		if strings.HasPrefix(path, "/var/lib/kubelet/pki/") {
			t.Fatalf("%s is left of the other machine", path)
		}
	}
	return s
}

// differ checks that the plan drops files of the earlier plan, adds some and changes some.
func (s *scenario) differ(t *testing.T, before resource.Plan) {
	t.Helper()
	was, is := files(before), files(s.plan)
	var dropped, added, changed int
	for path, content := range was {
		if now, ok := is[path]; !ok {
			dropped++
		} else if now != content {
			changed++
		}
	}
	for path := range is {
		if _, ok := was[path]; !ok {
			added++
		}
	}
	if dropped == 0 || added == 0 || changed < 3 {
		t.Fatalf("the contracts differ too little: %d files dropped, %d added, %d changed", dropped, added, changed)
	}
}

func files(p resource.Plan) map[string]string {
	files := make(map[string]string)
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok {
			files[f.Path] = string(f.Content)
		}
	}
	return files
}

// deliver writes a contract where user data would put it.
func (s *scenario) deliver(t *testing.T, contract []byte) {
	t.Helper()
	s.deliverAt(t, contractPath, contract)
}

func (s *scenario) deliverAt(t *testing.T, path string, contract []byte) {
	t.Helper()
	read := compile.ReadOne(path, contract)
	desired, problems := read.Plan(s.facts)
	if read.ExitCode(problems) != 0 {
		t.Fatal(problems)
	}
	s.plan = desired
	s.put(t, path, contract)
}

// put writes a file that exists before the run.
func (s *scenario) put(t *testing.T, path string, content []byte) {
	t.Helper()
	root := newRoot()
	defer os.RemoveAll(root)
	if err := s.base.write(root); err != nil {
		t.Fatal(err)
	}
	at := root + path
	if err := os.MkdirAll(at[:strings.LastIndexByte(at, '/')], 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.base, err = snapshot(root); err != nil {
		t.Fatal(err)
	}
}

// learn provisions without interruption, to record the result and the points where it can be interrupted.
func (s *scenario) learn(t *testing.T) {
	t.Helper()
	n, err := s.node()
	if err != nil {
		t.Fatal(err)
	}
	defer n.remove()
	if got := n.provision(&session{}); got.ExitCode != 0 {
		t.Fatalf("%s: exit code %d: %v", s.name, got.ExitCode, got.Error)
	}
	s.events = n.runs[0].events
	if s.want, err = snapshot(n.root); err != nil {
		t.Fatal(err)
	}
	if err := n.converged(); err != nil {
		t.Fatalf("%s, left alone: %v", s.name, err)
	}
}

// deaths are all deaths that are possible in the scenario's run.
func (s *scenario) deaths() []death {
	var all []death
	for n := range s.events {
		all = append(all, death{n, before})
		if s.events[n].Kind == "write" && len(s.events[n].Data) > 1 {
			all = append(all, death{n, within})
		}
		all = append(all, death{n, after})
	}
	return all
}

// node is a directory on which a scenario runs.
type node struct {
	*scenario
	root string
	runs []*session
	log  bytes.Buffer
	// found is the machine before the first run.
	found tree
	// earlier is the number of runs before this node's.
	earlier int
	// brief reports whether the check at the end omits one more run.
	brief bool
}

// node makes the machine in its state before the run.
func (s *scenario) node() (*node, error) { return s.nodeOf(s.base) }

func (s *scenario) nodeOf(before tree) (*node, error) {
	n := &node{scenario: s, root: newRoot(), found: before}
	return n, before.write(n.root)
}

func (n *node) remove() { os.RemoveAll(n.root) }

// provision provisions under a session.
func (n *node) provision(s *session) (got *status.Status) {
	known := n.facts
	n.run(s, func(a *agent.Agent) { got = a.Provision(context.Background(), agent.ProvisionOptions{Facts: &known}) })
	return got
}

// reset resets the machine under a session.
func (n *node) reset(s *session) (err error) {
	n.run(s, func(a *agent.Agent) { _, err = a.Reset(context.Background()) })
	return err
}

// on is the scenario's machine, in a directory.
func (s *scenario) on(dir *host.Directory) agent.Host {
	switch {
	case s.joins:
		return joining{dir}
	case s.brings:
		return bringing{dir}
	}
	return dir
}

// run calls an agent under a session.
func (n *node) run(s *session, do func(a *agent.Agent)) {
	s.root = n.root
	n.runs = append(n.runs, s)
	running.byRoot.Store(n.root, s)
	defer running.byRoot.Delete(n.root)
	dir, err := host.OpenDirectory(n.root)
	if err != nil {
		panic(err)
	}
	defer dir.Close()
	defer n.meanwhile()
	now := time.Date(2026, 1, 2, 3, 4+len(n.runs), 5, 0, time.UTC)
	do(&agent.Agent{
		Host: n.on(dir), Version: "test", Sequential: true, Called: "aks-node-controller",
		Log: slog.New(slog.NewJSONHandler(&n.log, nil)),
		Now: func() time.Time { now = now.Add(time.Millisecond); return now },
	})
}

// finish provisions without interruption, and checks that the machine is as if no run had been interrupted.
func (n *node) finish() error {
	got := n.provision(&session{})
	if got.ExitCode != 0 {
		return fmt.Errorf("the last run ends with %d: %v", got.ExitCode, got.Error)
	}
	return n.converged()
}

// converged checks that the machine is as after one uninterrupted run, and stays so.
func (n *node) converged() error {
	got, err := snapshot(n.root)
	if err != nil {
		return err
	}
	if err := errors.Join(got.equal(n.want, n.earlier+len(n.runs), n.eventless()), got.sameMachine(n.want), n.restarted()); err != nil {
		return err
	}
	if n.brief {
		return nil
	}
	again := n.provision(&session{})
	after, err := snapshot(n.root)
	if err != nil {
		return err
	}
	if again.ExitCode != 0 || len(again.Changes) > 0 {
		return fmt.Errorf("one more run ends with %d and changes %v", again.ExitCode, again.Changes)
	}
	for path := range union(got, after) {
		if got[path] != after[path] {
			return fmt.Errorf("one more run makes %s %s, it was %s", path, after[path], got[path])
		}
	}
	return nil
}

// eventless is the number of runs that could not write their event, and logged that.
func (n *node) eventless() int { return bytes.Count(n.log.Bytes(), []byte("event cannot be written")) }

func ubuntu(t *testing.T) facts.Facts {
	t.Helper()
	known, err := facts.Parse(example(t, "facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func example(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(examples + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// edited is an example with some fields of its top level replaced.
func edited(t *testing.T, name string, over map[string]any) []byte {
	t.Helper()
	var contract map[string]any
	if err := json.Unmarshal(example(t, name), &contract); err != nil {
		t.Fatal(err)
	}
	for field, value := range over {
		contract[field] = value
	}
	document, err := json.Marshal(contract)
	if err != nil {
		t.Fatal(err)
	}
	return document
}
