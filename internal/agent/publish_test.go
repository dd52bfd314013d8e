package agent

import (
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// delivered is a contract, and what is published about it.
type delivered struct {
	name    string
	asAKS   bool
	path    string
	content string
	prepare func(n *node)
	place   destination
	code    int
	says    string
}

// unreadable makes a contract fail to be read.
func unreadable(path string, err error) func(*node) {
	return func(n *node) {
		n.host.before = func(op, name string) error {
			if op == "ReadFile" && name == path {
				return err
			}
			return nil
		}
	}
}

func deliveries(t *testing.T) []delivered {
	minimal := string(example(t, "native/minimal.yaml"))
	return []delivered{
		{name: "AKS", path: aksContract, content: string(example(t, "aks/azure-cni.json")), place: aksPlace},
		{name: "native", path: nativeContract, content: minimal, place: nativePlace},
		{name: "native, called as AKS's", asAKS: true, path: nativeContract, content: minimal, place: nativePlace},
		{name: "native, in AKS's place", path: aksContract, content: minimal, place: nativePlace},
		{name: "missing", place: nativePlace, code: exitcode.ContractNotFound, says: "deliver one as user data"},
		{name: "missing, called as AKS's", asAKS: true, place: aksPlace, code: exitcode.AKSNodeController, says: "deliver one as user data"},
		{name: "a directory in its place", prepare: func(n *node) {
			if err := os.MkdirAll(n.root+aksContract, 0o755); err != nil {
				n.Fatal(err)
			}
		}, place: aksPlace, code: exitcode.AKSNodeController, says: aksContract},
		{name: "no permission", path: aksContract, content: "{}", prepare: unreadable(aksContract, syscall.EACCES), place: aksPlace, code: exitcode.AKSNodeController, says: "permission denied"},
		{name: "a broken disk", path: nativeContract, content: "{}", prepare: unreadable(nativeContract, syscall.EIO), place: nativePlace, code: exitcode.ContractNotFound, says: "input/output error"},
		{name: "empty", path: aksContract, place: aksPlace, code: exitcode.AKSNodeController, says: "empty"},
		{name: "truncated", path: aksContract, content: string(example(t, "aks/azure-cni.json")[:1000]), place: aksPlace, code: exitcode.AKSNodeController, says: "cut off"},
		{name: "10 MiB", path: aksContract, content: `{"version":"v1"}` + strings.Repeat(" ", 10<<20), place: aksPlace, code: exitcode.AKSNodeController, says: "larger than"},
		{name: "a byte too large", path: aksContract, content: `{"version":"v1"}` + strings.Repeat(" ", document.MaxBytes-15), place: aksPlace, code: exitcode.AKSNodeController, says: "larger than"},
		{name: "no contract at all", path: aksContract, content: `{"hello":"world"}`, place: aksPlace, code: exitcode.AKSNodeController, says: "not a known contract"},
		{name: "binary", path: aksContract, content: "\x7fELF\x00\xff", place: aksPlace, code: exitcode.AKSNodeController, says: "line 1 column 1: yaml"},
		{name: "another version", path: aksContract, content: string(aksWith(t, "minimal.json", map[string]any{"version": "v7"})), place: aksPlace, code: exitcode.AKSNodeController, says: "$.version"},
		{name: "another native version", path: nativeContract, content: strings.Replace(minimal, "slipway.dev/v1", "slipway.dev/v9", 1), place: nativePlace, code: exitcode.ContractInvalid, says: "$.apiVersion"},
		{name: "wrong types", path: aksContract, content: string(aksWith(t, "minimal.json", map[string]any{
			"kubernetes_version": 1.34, "bootstrapping_config": []any{1}, "kubelet_config": "x",
		})), place: aksPlace, code: exitcode.AKSNodeController, says: "$.bootstrapping_config"},
		{name: "wrong types of what can be left out", path: aksContract, content: string(aksWith(t, "minimal.json", map[string]any{
			"network_config": "x", "vm_size": 4, "custom_linux_os_config": map[string]any{"sysctl_config": map[string]any{"net_core_somaxconn": "many"}},
		})), place: aksPlace},
		{name: "a method that this version does not have", path: nativeContract,
			content: strings.Replace(minimal, "join:", "join:\n  method: Attested", 1), place: nativePlace, code: exitcode.ContractInvalid, says: "$.join.method"},
	}
}

// With any contract, or none, a result is published at its reader's path.
func TestPublished(t *testing.T) {
	t.Parallel()
	for _, c := range deliveries(t) {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			n.Called = map[bool]string{true: aksName}[c.asAKS]
			if c.path != "" {
				n.deliver(c.path, []byte(c.content))
			}
			if c.prepare != nil {
				c.prepare(n)
			}
			got := n.provision()
			if got.ExitCode != c.code {
				t.Errorf("exit code is %d, want %d: %v", got.ExitCode, c.code, got.Error)
			}
			n.published(c.place, c.code)
			n.left()
			if text := n.result(c.place).Error; !strings.Contains(text, c.says) {
				t.Errorf("the result says %q, not %q", text, c.says)
			}
			if c.code != 0 && (got.Error.Action == "" || len(got.Changes) > 0 || n.exists("/etc/containerd")) {
				t.Errorf("%+v", got)
			}
			for _, other := range []destination{aksPlace, nativePlace} {
				if other != c.place && (n.exists(other.result.Path) || n.exists(other.complete)) {
					t.Errorf("there is something at %s too", other.result.Path)
				}
			}
		})
	}
}

// A reader that sees one document sees all earlier ones: the status comes first, then the result, then the marker, each
// complete.
func TestOrderOfDocuments(t *testing.T) {
	t.Parallel()
	for _, contract := range []string{"aks/minimal.json", ""} {
		n := newNode(t)
		if contract != "" {
			n.deliver(aksContract, example(t, contract))
		}
		var written []string
		n.host.before = func(op, name string) error {
			switch op {
			case "WriteFileAtomic":
				if strings.HasPrefix(name, generation.Dir+"/") {
					return nil // of these, only the first one matters here; other tests cover the rest
				}
				written = append(written, name)
			case "Commit", "StartUnit", "SetSysctl":
				if len(written) > 0 {
					t.Errorf("%s %s after %s", op, name, written)
				}
			}
			return nil
		}
		n.provision()
		if want := []string{state.Status.Path, aksPlace.result.Path, aksPlace.complete}; !slices.Equal(written, want) {
			t.Errorf("written are %q, want %q", written, want)
		}
		for _, path := range written {
			if info, err := os.Stat(n.root + path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
}

// If a document cannot be written, the later ones are not published, and the error is logged.
func TestDocumentCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails                    string
		status, result, complete bool
	}{
		{state.Status.Path, false, true, true},
		{aksPlace.result.Path, true, false, false},
		{aksPlace.complete, true, false, false},
	} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.host.before = func(op, name string) error {
			if op == "WriteFileAtomic" && name == c.fails {
				return syscall.ENOSPC
			}
			return nil
		}
		if got := n.provision(); got.ExitCode != exitcode.AKSNodeController {
			t.Errorf("%s: a success that is not published is %d", c.fails, got.ExitCode)
		}
		if result := n.root + aksPlace.result.Path; c.fails == state.Status.Path {
			if content, err := os.ReadFile(result); err != nil || !strings.Contains(string(content), `"240"`) {
				t.Errorf("a success is published without its status: %s, %v", content, err)
			}
		}
		if n.exists(state.Status.Path) != c.status || n.exists(aksPlace.result.Path) != c.result || n.exists(aksPlace.complete) != c.complete {
			t.Errorf("%s cannot be written, and there is %v", c.fails, slices.Sorted(maps.Keys(n.snapshot())))
		}
		if document, code, err := n.Wait(t.Context()); err != nil || code != exitcode.AKSNodeController || !strings.Contains(string(document), `"240"`) {
			t.Errorf("%s: who waits gets %d, %v, %s", c.fails, code, err, document)
		}
		if last, err := n.LastStatus(); err != nil || last.ExitCode != exitcode.AKSNodeController {
			t.Errorf("%s: the status is %+v, %v", c.fails, last, err)
		}
		if !strings.Contains(n.log.String(), "no space left on device") {
			t.Errorf("%s: the log does not say why", c.fails)
		}
		// The next run, which finds nothing to do, publishes what is missing.
		n.host.before = func(string, string) error { return nil }
		if got := n.provision(); len(got.Changes) > 0 {
			t.Errorf("%s: %v", c.fails, got.Changes)
		}
		n.published(aksPlace, 0)
		if n.exists(runPlace.complete) || n.exists(runPlace.result.Path) || n.exists(state.RunStatus.Path) {
			t.Errorf("%s: something is left in memory", c.fails)
		}
	}
}

// With a full disk, no document of an earlier success stays: readers and waiting programs get this run's result, and
// once there is space, the next run's.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do     func(n *node) *status.Status
		result bool
	}{
		"a new contract": {func(n *node) *status.Status {
			n.deliver(nativeContract, better(n.T))
			return n.provision()
		}, true},
		"the same contract, and drift": {func(n *node) *status.Status {
			n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
			return n.provision()
		}, true},
		"an invalid contract": {func(n *node) *status.Status {
			n.deliver(nativeContract, []byte("{"))
			return n.provision()
		}, true},
		"a change": {func(n *node) *status.Status {
			n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
			return n.Repair(n.Context(), RepairOptions{}).Status
		}, false},
	} {
		n := running(t)
		n.Called = ""
		full := func(op, name string) error {
			writes := []string{"Stage", "WriteFileAtomic", "CreateExclusive", "MakeDirectory", "MakeSymlink"}
			if slices.Contains(writes, op) && !strings.HasPrefix(name, "/run/") {
				return syscall.ENOSPC
			}
			return nil
		}
		n.host.before = full
		for range 2 {
			got := c.do(n)
			if got.ExitCode == 0 || n.exists(state.Status.Path) {
				t.Errorf("%s: %d; the last status is there: %t", name, got.ExitCode, n.exists(state.Status.Path))
			}
			if last, err := n.LastStatus(); err != nil || last.ExitCode != got.ExitCode {
				t.Errorf("%s: the status is %+v, %v", name, last, err)
			}
			if _, code, err := n.Wait(t.Context()); c.result && (err != nil || code != got.ExitCode || n.exists(nativePlace.complete)) {
				t.Errorf("%s: who waits gets %d, %v", name, code, err)
			}
		}
		n.host.before = fine
		n.deliver(nativeContract, example(t, "native/full.yaml"))
		if got := n.provision(); got.ExitCode != 0 {
			t.Errorf("%s: %v", name, got.Error)
		}
		n.published(nativePlace, 0)
		if last, err := n.LastStatus(); err != nil || last.ExitCode != 0 {
			t.Errorf("%s: once there is room: %+v, %v", name, last, err)
		}
		if _, code, err := n.Wait(t.Context()); code != 0 || err != nil || n.exists(state.RunStatus.Path) {
			t.Errorf("%s: once there is room: %d, %v", name, code, err)
		}
	}
}

// A machine that cannot be written to is not changed, and the caller gets an error.
func TestReadOnlyMachine(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.host.before = func(op, name string) error {
		switch op {
		case "Lock", "Stage", "Commit", "MakeDirectory", "MakeSymlink", "Remove", "WriteFileAtomic", "CreateExclusive", "SetSysctl", "StartUnit", "LoadModule":
			return syscall.EROFS
		}
		return nil
	}
	before := n.snapshot()
	got := n.provision()
	if got.ExitCode != exitcode.AKSNodeController || !strings.Contains(got.Error.Message, "read-only file system") {
		t.Errorf("%d: %v", got.ExitCode, got.Error)
	}
	if !maps.Equal(before, n.snapshot()) {
		t.Error("the tree has changed")
	}
	if log := n.log.String(); strings.Count(log, `"level":"ERROR"`) < 2 {
		t.Errorf("the log is %s", log)
	}
}

// A failed run is followed by a good one, and a good one by a failed one.
func TestOneRunAfterAnother(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for _, c := range []struct {
		contract []byte
		code     int
	}{
		{[]byte("{"), exitcode.AKSNodeController},
		{example(t, "aks/minimal.json"), 0},
		{aksWith(t, "minimal.json", map[string]any{"kubernetes_version": "x"}), exitcode.AKSNodeController},
		{example(t, "aks/minimal.json"), 0},
		{example(t, "aks/azure-cni.json"), 0},
	} {
		n.deliver(aksContract, c.contract)
		if got := n.provision(); got.ExitCode != c.code {
			t.Errorf("%v", got.Error)
		}
		n.published(aksPlace, c.code)
		n.left()
	}
}

// A second run of the same contract writes nothing: the first run's documents stay.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	for _, at := range []struct{ path, example string }{{aksContract, "aks/azure-cni.json"}, {nativeContract, "native/full.yaml"}} {
		n := newNode(t)
		n.deliver(at.path, example(t, at.example))
		if got := n.provision(); got.ExitCode != 0 {
			t.Fatal(got.Error)
		}
		before := n.snapshot()
		var calls []string
		n.host.before = func(op, name string) error {
			if slices.Contains(mutating, op) {
				calls = append(calls, op+" "+name)
			}
			return nil
		}
		for range 3 {
			if got := n.provision(); got.ExitCode != 0 || got.Outcome != status.OutcomeSuccess || len(got.Changes) > 0 {
				t.Errorf("%v, %v", got.Error, got.Changes)
			}
		}
		if len(calls) > 0 || !maps.Equal(before, n.snapshot()) {
			t.Errorf("something was written: %q", calls)
		}
	}
}

// A dry run publishes nothing and changes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for _, contract := range []string{"aks/azure-cni.json", ""} {
		n := newNode(t)
		if contract != "" {
			n.deliver(aksContract, example(t, contract))
		}
		before := n.snapshot()
		got := n.Provision(t.Context(), ProvisionOptions{DryRun: true})
		if (got.ExitCode == 0) != (contract != "") || (len(got.Changes) > 20) != (contract != "") {
			t.Errorf("%d, %d changes", got.ExitCode, len(got.Changes))
		}
		if !maps.Equal(before, n.snapshot()) {
			t.Error("the tree has changed")
		}
	}
}

// On an image only the settings that need no cluster are applied, and its marker has another name.
func TestImagePreparation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path     string
		contract []byte
		place    destination
	}{
		{aksContract, aksWith(t, "azure-cni.json", map[string]any{"pre_provision_only": true}), aksPlace},
		{nativeContract, []byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\njoin: {method: None}\n"), nativePlace},
		{credential, aksWith(t, "azure-cni.json", map[string]any{"pre_provision_only": true}), aksPlace},
	} {
		n := newNode(t)
		n.deliver(c.path, c.contract)
		n.deliver(c.place.complete, nil) // of a machine that has been a node
		if got := n.provision(); got.ExitCode != 0 {
			t.Fatal(got.Error)
		}
		if !n.exists(c.place.baseComplete) || n.exists(c.place.complete) {
			t.Error("the markers are others")
		}
		if code, err := n.result(c.place).Code(); err != nil || code != 0 {
			t.Errorf("%d, %v", code, err)
		}
		if c.path == credential && (n.exists(aksContract) || n.exists(nativeContract)) {
			t.Error("a copy of the contract is in the image")
		}
		if strings.Contains(string(n.read("/run/slipway/actions.jsonl")), "kubelet.service") || n.exists("/etc/default/kubelet") {
			t.Error("the kubelet is started, or knows a cluster")
		}
	}
}
