package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// settled is the node's state once all runs have ended: kind, mode and content of all files except the documents, which
// have times in them, the contracts, and the record of actions.
func (n *node) settled() string {
	n.Helper()
	var b strings.Builder
	err := filepath.WalkDir(n.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, n.root)
		for _, beside := range []string{"/contracts", "/var/log/azure", "/var/lib/slipway/", "/run/slipway/actions.jsonl"} {
			if strings.HasPrefix(name, beside) {
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := []byte(nil)
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %s %x\n", info.Mode(), name, sha256.Sum256(content))
		return nil
	})
	if err != nil {
		n.Fatal(err)
	}
	return b.String()
}

// rivals are contracts that differ in files of every kind.
func rivals(t *testing.T) map[string][]byte {
	t.Helper()
	rivals := make(map[string][]byte)
	for i := range 4 {
		rivals[fmt.Sprintf("/contracts/%d.json", i)] = aksWith(t, "azure-cni.json", map[string]any{
			"kubernetes_version": []string{"1.34.2", "1.36.3"}[i%2], // of the versions that the machine has
			"kubelet_config":     map[string]any{"kubelet_node_labels": map[string]any{"rival": fmt.Sprint(i)}},
			"bootstrapping_config": map[string]any{
				"tls_bootstrapping_token": fmt.Sprintf("abcde%d.0123456789abcdef", i),
			},
		})
	}
	return rivals
}

// onesOwn requires that the node and its documents are what exactly one of the contracts makes.
func onesOwn(t *testing.T, n *node, contracts map[string][]byte) {
	t.Helper()
	last, err := status.Parse(n.read(state.Status.Path))
	if err != nil {
		t.Fatal(err)
	}
	if contracts[last.Config.Path] == nil || last.Outcome != status.OutcomeSuccess {
		t.Fatalf("the last was %+v, %v", last.Config, last.Error)
	}
	alone := newNode(t)
	for path, contract := range contracts {
		alone.deliver(path, contract)
	}
	if got := alone.Provision(t.Context(), ProvisionOptions{Config: last.Config.Path, Facts: ubuntu(t)}); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	if got, want := n.settled(), alone.settled(); got != want {
		t.Errorf("the node is not what %s makes:\n%s\nwant\n%s", last.Config.Path, got, want)
	}
	if result := n.result(aksPlace); result.ExitCode != "0" || !strings.Contains(result.Output, last.Config.Digest[:12]) {
		t.Errorf("the result is another's than the status, which is of %s:\n%s", last.Config.Digest, result.Output)
	}
	if !n.exists(aksPlace.complete) {
		t.Error("there is no marker")
	}
	n.left()
}

// Several provisionings at once run one after the other, and the documents of the last one stay.
func TestConcurrentProvisions(t *testing.T) {
	t.Parallel()
	contracts := rivals(t)
	for round := range 3 {
		root := newNode(t).root
		nodes := make(map[string]*node)
		for path, contract := range contracts {
			nodes[path] = newNode(t, root)
			nodes[path].deliver(path, contract)
		}
		var (
			wait   sync.WaitGroup
			mu     sync.Mutex
			holder string
		)
		for path, n := range nodes {
			n.Sequential = round%2 == 0
			// From the first change of one run to its marker, no other run changes anything.
			n.host.before = func(op, name string) error {
				mu.Lock()
				defer mu.Unlock()
				if !slices.Contains([]string{"Stage", "Commit", "Remove", "StartUnit", "RestartUnit", "SetSysctl", "WriteFileAtomic"}, op) {
					return nil
				}
				if holder == "" {
					holder = path
				}
				if holder != path {
					t.Errorf("%s %s of %s while %s is at work", op, name, path, holder)
				}
				if op == "WriteFileAtomic" && name == aksPlace.complete {
					holder = ""
				}
				return nil
			}
			wait.Go(func() {
				if got := n.Provision(context.Background(), ProvisionOptions{Config: path, Facts: ubuntu(t)}); got.ExitCode != 0 {
					t.Errorf("%s: %v", path, got.Error)
				}
			})
		}
		wait.Wait()
		onesOwn(t, newNode(t, root), contracts)
		wholeEvents(t, newNode(t, root).events())
		if events := newNode(t, root).events(); len(events) != len(contracts) {
			t.Errorf("%d events", len(events))
		}
	}
}

// One contract, eight agents: one applies it, the others find it done.
func TestSameContractAtOnce(t *testing.T) {
	t.Parallel()
	root := newNode(t).root
	newNode(t, root).deliver(aksContract, example(t, "aks/azure-cni.json"))
	var (
		wait    sync.WaitGroup
		mu      sync.Mutex
		applied int
	)
	for range 8 {
		n := newNode(t, root)
		wait.Go(func() {
			got := n.provision()
			mu.Lock()
			defer mu.Unlock()
			if got.ExitCode != 0 {
				t.Error(got.Error)
			}
			if len(got.Changes) > 0 {
				applied++
			}
		})
	}
	wait.Wait()
	n := newNode(t, root)
	if applied != 1 || len(n.events()) != 1 {
		t.Errorf("%d have applied it; there are %d events", applied, len(n.events()))
	}
	n.published(aksPlace, 0)
	n.left()
}

// While another run works on the machine, an agent waits as long as its contract allows. Then it gives up, and leaves
// the documents to the other run.
func TestAnotherIsAtWork(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, aksWith(t, "minimal.json", map[string]any{"cse_timeout": 1}))
	unlock, err := n.host.Directory.Lock(t.Context(), "/run/slipway/lock")
	if err != nil {
		t.Fatal(err)
	}
	got := n.provision()
	if got.ExitCode != exitcode.Timeout || !strings.Contains(n.errorTexts(got), "/run/slipway/lock") {
		t.Errorf("%d, %+v", got.ExitCode, got.Errors)
	}
	if n.exists(state.Status.Path) || n.exists(aksPlace.result.Path) || n.exists(aksPlace.complete) || n.exists(FactsPath) {
		t.Errorf("there is %q", slices.Sorted(maps.Keys(n.snapshot())))
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	n.deliver(aksContract, example(t, "aks/minimal.json")) // it has a longer timeout
	if got := n.provision(); got.ExitCode != 0 {
		t.Error(got.Error)
	}
	n.published(aksPlace, 0)
}

// With an unusable contract, a run still does not overwrite another run's documents.
func TestBadContractWhileAnotherIsAtWork(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, []byte("{"))
	unlock, err := n.host.Directory.Lock(t.Context(), "/run/slipway/lock")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *status.Status)
	go func() { done <- n.provision() }()
	select {
	case got := <-done:
		t.Fatalf("did not wait: %v", got.Error)
	case <-time.After(time.Second):
	}
	if n.exists(state.Status.Path) || n.exists(aksPlace.complete) || len(n.events()) > 0 {
		t.Errorf("there is %q", slices.Sorted(maps.Keys(n.snapshot())))
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.ExitCode != exitcode.AKSNodeController {
		t.Errorf("%d", got.ExitCode)
	}
	n.published(aksPlace, exitcode.AKSNodeController)
}

func (n *node) errorTexts(s *status.Status) string {
	var texts []string
	for _, failure := range s.Errors {
		texts = append(texts, failure.String())
	}
	return strings.Join(texts, "\n")
}

// asProcess is the environment variable of a test binary that runs as an agent: the root, and the contract.
const asProcess = "SLIPWAY_TEST_PROVISION"

func TestMain(m *testing.M) {
	if root, contract, ok := strings.Cut(os.Getenv(asProcess), ":"); ok {
		os.Exit(provisionAsProcess(root, contract))
	}
	os.Exit(m.Run())
}

// Separate processes provision at once, like two units that systemd starts at once.
func TestConcurrentProcesses(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	contracts := rivals(t)
	n := newNode(t)
	var wait sync.WaitGroup
	for path, contract := range contracts {
		n.deliver(path, contract)
	}
	for path := range contracts {
		for range 2 {
			wait.Go(func() {
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), asProcess+"="+n.root+":"+path)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, bytes.TrimSpace(out))
				}
			})
		}
	}
	wait.Wait()
	onesOwn(t, n, contracts)
}
