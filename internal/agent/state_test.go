package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/detector"
)

// readers read each file of state as the agent does. The watcher's package tests its file.
var readers = map[string]func(n *node, data []byte) error{
	state.Status.Path:    func(_ *node, data []byte) error { _, err := status.Parse(data); return err },
	state.Result.Path:    readsResult,
	aksPlace.result.Path: readsResult,
	state.Facts.Path:     func(_ *node, data []byte) error { _, err := facts.Parse(data); return err },
	state.Intent.Path:    func(_ *node, data []byte) error { return json.Unmarshal(data, new(map[string]any)) },
	state.Identity.Path: func(n *node, _ []byte) error {
		record, err := identity.Read(n.host)
		if err == nil && record == nil {
			err = errors.New("nothing is read")
		}
		return err
	},
	state.Actions.Path: func(n *node, _ []byte) error {
		_, err := n.host.UnitState(context.Background(), "kubelet.service")
		return err
	},
	state.Index.Path: readsGenerations,
	state.Reserve.Path: func(_ *node, data []byte) error {
		if int64(len(data)) != state.Reserve.Limit {
			return fmt.Errorf("has %d bytes", len(data))
		}
		return nil
	},
}

func readsResult(_ *node, data []byte) error {
	result, err := status.ParseCSE(data)
	if err == nil {
		_, err = result.Code()
	}
	return err
}

// readsGenerations requires that every generation's record is readable, and that the index is not rebuilt.
func readsGenerations(n *node, _ []byte) error {
	entries, err := n.Generations()
	if err != nil {
		return err
	}
	store, err := generation.Open(n.Host, n.Log)
	for _, e := range entries {
		_, unreadable := store.Plan(e.Number)
		err = errors.Join(err, unreadable)
		if e.Outcome == generation.Unknown {
			err = errors.Join(err, fmt.Errorf("the outcome of generation %d is unknown", e.Number))
		}
	}
	return err
}

// readable requires that the readers can read every file of the agent's state. It returns the files' names.
func (n *node) readable(what string) map[string]bool {
	n.Helper()
	found := make(map[string]bool)
	check := func(f state.File) {
		if !n.exists(f.Path) {
			return
		}
		found[f.Path] = true
		data, err := f.Read(n.host)
		if err == nil && strings.HasPrefix(f.Path, state.Generations) {
			err = readsGenerations(n, data)
		} else if err == nil {
			err = readers[f.Path](n, data)
		}
		if err != nil {
			n.Errorf("%s: %s cannot be read back: %v", what, f.Path, err)
		}
	}
	known := make(map[string]bool)
	for _, f := range state.Files() {
		known[f.Path] = true
		check(f)
	}
	// The table has all files that are kept there.
	for _, dir := range []string{state.Dir, state.RunDir} {
		entries, _ := os.ReadDir(filepath.Join(n.root, dir))
		for _, e := range entries {
			if path := dir + "/" + e.Name(); !e.IsDir() && !known[path] && strings.HasSuffix(path, ".json") {
				n.Errorf("%s: %s is not in the table of state", what, path)
			}
		}
	}
	return found
}

// extremes are contracts with which the agent writes as much as it ever does.
func extremes(t *testing.T) map[string][]byte {
	many := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	base := string(example(t, "native/minimal.yaml"))
	return map[string][]byte{
		"bad labels":  []byte(base + "\nkubelet:\n  labels:\n" + many(document.MaxNodes-100, func(i int) string { return fmt.Sprintf("    \"bad label %d!\": \"%s\"\n", i, strings.Repeat("é", 4)) })),
		"bad sysctls": []byte(base + "\nsystem:\n  sysctls:\n" + many(document.MaxNodes-100, func(i int) string { return fmt.Sprintf("    \"no/../%d\": \"1\"\n", i) })),
		"unknown":     []byte(base + "\n" + many(document.MaxNodes-100, func(i int) string { return fmt.Sprintf("unknown%d: \"\\u0001\\u0002\"\n", i) })),
		"sysctls":     []byte(base + "\nsystem:\n  sysctls:\n" + many(300, func(i int) string { return fmt.Sprintf("    net.x%d.y: \"1\"\n", i) })),
		"garbage":     []byte(strings.Repeat("\x00\xff", 1<<19)),
		"too large":   []byte(strings.Repeat("# \n", 1<<20)),
	}
}

// Whatever the input, the agent can read back all that it has written, by a boot and by a change of a node.
func TestStateCanBeReadBack(t *testing.T) {
	detector.Skip(t)
	found := make(map[string]bool)
	for name, contract := range extremes(t) {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.deliver("/etc/machine-id", []byte("0123456789abcdef0123456789abcdef\n"))
			n.deliver(nativeContract, contract)
			known := ubuntu(t)
			known.MachineID = "0123456789abcdef0123456789abcdef"
			n.Provision(context.Background(), ProvisionOptions{Facts: known})
			for path := range n.readable("boot") {
				found[path] = true
			}
			n = newNode(t)
			n.deliver(nativeContract, example(t, "native/minimal.yaml"))
			n.provision()
			n.deliver(nativeContract, contract)
			n.Change(context.Background(), ChangeOptions{Config: nativeContract, Facts: known, Allow: difference.Replace})
			n.readable("change")
		})
	}
	for _, want := range []string{state.Status.Path, aksPlace.result.Path} {
		if !found[want] && !found[state.Result.Path] {
			t.Errorf("%s was never written", want)
		}
	}
}
