package watch

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/status"
)

// canary is the secret of the contracts.
const canary = "abcdef.0123456789abcdef"

// node is a node with a watcher, in a separate bubble of time.
type node struct {
	*testing.T
	mu      sync.Mutex
	entries []generation.Entry
	drift   []apply.Change
	// outcomes are the outcomes of the next changes. Changes after them succeed.
	outcomes []outcome
	// takes is how long a change takes, and provisioning how long the boot's provisioning.
	takes, provisioning time.Duration
	// calls are the calls of Node, and beats the messages to the supervisor.
	calls []string
	// attempts are those of the repairs.
	attempts []int
	beats    []string
	begin    time.Time
	files    map[string]string
	log      bytes.Buffer

	// tags are the machine's tags, and asks counts the reads of them. address is, by its number, a generation's address if its contract
	// takes one from a tag.
	tags    facts.Tags
	tagsErr error
	asks    int
	address map[int]string
	// retags are when the node was planned for other tags.
	retags []time.Time

	content  string
	fetchErr error
	changed  func()
	watcher  *Watcher
	stop     context.CancelFunc
	done     chan error
}

// outcome is the outcome of a change.
type outcome string

const (
	well        outcome = "well"
	breaks      outcome = "breaks"      // the generation fails
	unreachable outcome = "unreachable" // no generation is made
	tooMuch     outcome = "too much"
	tooOld      outcome = "too old"
	badConfig   outcome = "bad config"
	atWork      outcome = "at work" // another run holds the lock
)

// onNode runs a test on a node whose current generation is of a contract.
func onNode(t *testing.T, contract string, test func(n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &node{T: t, files: make(map[string]string), address: make(map[int]string), begin: time.Now(), content: contract, takes: 2 * time.Second}
		n.record(contract, generation.Good, generation.Provision)
		n.renew()
		test(n)
		n.end()
	})
}

// renew makes a new watcher, which has only what is on the disk.
func (n *node) renew() {
	n.watcher = &Watcher{
		Node: n, Files: n, Metrics: NewMetrics(), Log: slog.New(slog.NewTextHandler(n, nil)),
		Allow: difference.Restart, Drift: Off, DriftInterval: 5 * time.Minute,
		Supervisor: n, Beat: 30 * time.Second, Grace: time.Minute,
		Sources: []Source{{Name: "file", Fetch: n.fetch, Follow: n.follow, Interval: time.Minute}}, Tags: n.askTags,
	}
}

func (n *node) start() {
	var ctx context.Context
	ctx, n.stop = context.WithCancel(n.Context())
	n.done = make(chan error, 1)
	go func() { n.done <- n.watcher.Run(ctx) }()
	n.wait(time.Millisecond)
}

func (n *node) end() {
	if n.stop == nil {
		return
	}
	n.stop()
	<-n.done
	n.stop = nil
	synctest.Wait()
}

func (n *node) restart() {
	n.end()
	n.renew()
	n.start()
}

func (n *node) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// deliver puts other bytes into the source, and waits until they are settled.
func (n *node) deliver(content string, outcomes ...outcome) {
	n.set(func() { n.content, n.outcomes = content, outcomes })
	n.changed()
	n.wait(4 * time.Second)
}

// want compares what was asked of the node since the last call.
func (n *node) want(calls ...string) {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if got := strings.Join(n.calls, ", "); got != strings.Join(calls, ", ") {
		n.Errorf("asked for %q, want %q", got, calls)
	}
	n.calls = nil
}

// wantMetric wants a line of the metrics.
func (n *node) wantMetric(line string) {
	n.Helper()
	if text := string(n.watcher.Metrics.Text()); !strings.Contains("\n"+text, "\n"+line+"\n") {
		n.Errorf("no line %q in\n%s", line, text)
	}
}

func (n *node) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *node) call(format string, args ...any) {
	n.calls = append(n.calls, fmt.Sprintf(format, args...))
}

// record adds a generation of a contract.
func (n *node) record(contract string, outcome generation.Outcome, origin generation.Origin) {
	n.entries = append(n.entries, generation.Entry{
		Number: len(n.entries) + 1, Config: digest(contract), Outcome: outcome, Origin: origin, FinishedAt: time.Now(),
	})
}

func digest(contract string) string {
	decoded := dialect.Decode([]byte(contract), "")
	return nodeconfig.Digest(decoded.Config)
}

func (n *node) fetch(context.Context) (source.Contract, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fetchErr != nil {
		return source.Contract{}, n.fetchErr
	}
	return source.Contract{Path: "/etc/slipway/config.yaml", Data: []byte(n.content)}, nil
}

func (n *node) follow(ctx context.Context, changed func()) error {
	n.set(func() { n.changed = changed })
	<-ctx.Done()
	return ctx.Err()
}

// Change implements Node.
func (n *node) Change(ctx context.Context, opts agent.ChangeOptions) agent.Changed {
	contract := string(opts.Contract.Data)
	n.mu.Lock()
	result := well
	if len(n.outcomes) > 0 {
		result, n.outcomes = n.outcomes[0], n.outcomes[1:]
	}
	n.call("change %s", result)
	if opts.Origin != generation.Watch {
		n.Errorf("the origin is %q", opts.Origin)
	}
	takes := n.takes
	n.mu.Unlock()
	time.Sleep(takes)
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil {
		n.Error("a change is cut short")
	}
	st := &status.Status{Outcome: status.OutcomeSuccess, FinishedAt: time.Now(), Config: status.Config{Digest: digest(contract)}}
	st.Steps = []status.Step{{Name: "compare", DurationMs: 12}, {Name: "Unit:kubelet.service", DurationMs: 1500}, {Name: "compare", DurationMs: 3}}
	changed := agent.Changed{Status: st}
	fail := func(message string) {
		st.Outcome, st.ExitCode, st.Error = status.OutcomeFailure, exitcode.AgentFailed, &status.Failure{Message: message}
	}
	switch result {
	case well:
		n.record(contract, generation.Good, generation.Watch)
		st.Generation = len(n.entries)
	case breaks:
		good := n.entries[len(n.entries)-1]
		n.record(contract, generation.Failed, generation.Watch)
		good.Number = len(n.entries) + 1
		n.entries = append(n.entries, good)
		st.Restored = 1
		fail("the kubelet is not well")
	case unreachable:
		fail("the disk is full")
	case tooMuch, tooOld:
		fail("refused")
		changed.Refused, st.ExitCode = string(result), exitcode.ContractOlder
		if result == tooMuch {
			changed.Difference, st.ExitCode = &difference.Difference{Class: difference.Reboot}, exitcode.Invalid
		}
	case badConfig:
		fail("cannot be used")
		st.Problems = []nodeconfig.Problem{{Path: "$", Reason: "nonsense", Fatal: true}}
	}
	return changed
}

// Repair implements Node.
func (n *node) Repair(_ context.Context, opts agent.RepairOptions) agent.Changed {
	var current generation.Entry
	busy := false
	n.set(func() {
		current = n.entries[len(n.entries)-1]
		busy = len(n.outcomes) > 0 && n.outcomes[0] == atWork
	})
	if opts.Begin != nil && !busy {
		opts.Begin(current) // it logs, and the log is the node's
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attempts = append(n.attempts, opts.Attempt)
	st := &status.Status{Outcome: status.OutcomeSuccess, FinishedAt: time.Now()}
	if len(n.outcomes) > 0 && n.outcomes[0] != well {
		result := n.outcomes[0]
		n.outcomes = n.outcomes[1:]
		if result == atWork {
			n.call("repair is busy")
			return agent.Changed{Status: &status.Status{Outcome: status.OutcomeFailure, ExitCode: exitcode.AgentFailed}, Busy: true}
		}
		n.call("repair fails")
		if last := &n.entries[len(n.entries)-1]; last.Unfinished() {
			last.Outcome = generation.Failed
		}
		st.Outcome, st.ExitCode, st.Error = status.OutcomeFailure, exitcode.AgentFailed, &status.Failure{Message: "the disk is full"}
		return agent.Changed{Status: st}
	}
	if opts.All {
		n.call("repair all")
	} else {
		n.call("repair")
	}
	n.drift = nil
	if last := &n.entries[len(n.entries)-1]; last.Unfinished() {
		last.Outcome = generation.Good
	}
	return agent.Changed{Status: st}
}

// Drift implements Node.
func (n *node) Drift(context.Context) ([]apply.Change, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.call("drift %d", len(n.drift))
	return n.drift, nil
}

// askTags is the metadata service.
func (n *node) askTags(context.Context) (facts.Tags, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asks++
	return n.tags, n.tagsErr
}

// ServerAddress implements Node.
func (n *node) ServerAddress() (address string, kept bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	address, kept = n.address[len(n.entries)]
	return address, kept, nil
}

// Retag implements Node.
func (n *node) Retag(_ context.Context, tags facts.Tags) agent.Changed {
	n.mu.Lock()
	defer n.mu.Unlock()
	result := well
	if len(n.outcomes) > 0 {
		result, n.outcomes = n.outcomes[0], n.outcomes[1:]
	}
	n.call("retag %s %s", tags.APIServerAddress, result)
	n.retags = append(n.retags, time.Now())
	st := &status.Status{Outcome: status.OutcomeSuccess, FinishedAt: time.Now()}
	switch result {
	case well:
		n.entries = append(n.entries, generation.Entry{Number: len(n.entries) + 1, Config: n.entries[len(n.entries)-1].Config, Outcome: generation.Good, Origin: generation.Watch})
		n.address[len(n.entries)] = tags.APIServerAddress
		st.Changes = []status.Change{{ID: "Block:/etc/hosts#api-server", Action: apply.Updated}}
		st.Generation = len(n.entries)
	case atWork:
		return agent.Changed{Status: &status.Status{Outcome: status.OutcomeFailure, ExitCode: exitcode.AgentFailed}, Busy: true}
	case unreachable:
		st.Outcome, st.ExitCode, st.Error = status.OutcomeFailure, exitcode.AgentFailed, &status.Failure{Message: "the disk is full"}
	}
	return agent.Changed{Status: st}
}

// Generations implements Node.
func (n *node) Generations() ([]generation.Entry, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]generation.Entry(nil), n.entries...), nil
}

// LastStatus implements Node.
func (n *node) LastStatus() (*status.Status, error) { return nil, fs.ErrNotExist }

// BeforeKubelet implements Node.
func (n *node) BeforeKubelet(context.Context) (time.Duration, error) {
	return 7250 * time.Millisecond, nil
}

// WaitProvisioning implements Node.
func (n *node) WaitProvisioning(ctx context.Context) error {
	select {
	case <-time.After(n.provisioning - time.Since(n.begin)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ReadFile implements Files.
func (n *node) ReadFile(path string, _ int64) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if content, found := n.files[path]; found {
		return []byte(content), nil
	}
	return nil, fs.ErrNotExist
}

// WriteFileAtomic implements Files.
func (n *node) WriteFileAtomic(file *resource.File) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files[file.Path] = string(file.Content)
	return nil
}

// Write takes the log.
func (n *node) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(p)
}

func (n *node) beat(what string) {
	n.set(func() { n.beats = append(n.beats, fmt.Sprintf("%s@%d", what, int(time.Since(n.begin).Seconds()))) })
}

// Ready implements Supervisor.
func (n *node) Ready() { n.beat("ready") }

// Status implements Supervisor.
func (n *node) Status(text string) { n.beat(text) }

// Alive implements Supervisor.
func (n *node) Alive() { n.beat("alive") }

// Stopping implements Supervisor.
func (n *node) Stopping() { n.beat("stopping") }

// contracts are some that differ.
func contracts(t *testing.T) (a, b, c string) {
	t.Helper()
	data, err := os.ReadFile("../../examples/native/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a = string(data)
	with := func(pods string) string { return strings.Replace(a, "maxPods: 200", "maxPods: "+pods, 1) }
	return a, with("110"), with("120")
}
