package agent

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

const script = "/opt/azure/containers/nbc-cmd.sh"

// A script runs once. If it publishes a result, that is the result. Otherwise the agent publishes one.
func TestScript(t *testing.T) {
	t.Parallel()
	own := `{"ExitCode": "83", "Output": "by the script"}`
	for _, c := range []struct {
		name, stale  string // a result of an earlier run
		writes       string
		err          error
		code, result int
	}{
		{name: "publishes nothing", code: 0, result: 0},
		{name: "fails and publishes nothing", err: errors.New("exit status 3"), code: exitcode.AKSNodeController, result: exitcode.AKSNodeController},
		{name: "publishes", writes: own, code: 0, result: 83},
		{name: "fails and publishes", writes: own, err: errors.New("exit status 83"), code: exitcode.AKSNodeController, result: 83},
		{name: "publishes garbage", writes: `{"ExitCode`, err: errors.New("exit status 1"), code: exitcode.AKSNodeController, result: exitcode.AKSNodeController},
		{name: "fails after an earlier success", stale: `{"ExitCode": "0"}`, err: errors.New("exit status 3"), code: exitcode.AKSNodeController, result: exitcode.AKSNodeController},
		{name: "succeeds after an earlier failure", stale: own, code: 0, result: 0},
		{name: "publishes after an earlier success", stale: `{"ExitCode": "0"}`, writes: own, code: 0, result: 83},
	} {
		n := newNode(t)
		n.deliver(script, []byte("#!/bin/bash\n"))
		if c.stale != "" {
			n.deliver(aksPlace.result.Path, []byte(c.stale))
			n.deliver(aksPlace.complete, nil)
		}
		var ran []string
		n.host.run = func(_ context.Context, command *resource.Command) ([]byte, error) {
			ran = append(ran, strings.Join(command.Argv, " "))
			if n.exists(aksPlace.complete) {
				t.Errorf("%s: there is a marker while the script runs", c.name)
			}
			if c.writes != "" {
				n.deliver(aksPlace.result.Path, []byte(c.writes))
			}
			return []byte("said something"), c.err
		}
		got := n.Provision(t.Context(), ProvisionOptions{Script: script})
		if got.ExitCode != c.code || got.Config.Dialect != "script" || got.Config.Path != script {
			t.Errorf("%s: %d %v %+v", c.name, got.ExitCode, got.Error, got.Config)
		}
		if !slices.Equal(ran, []string{"/bin/bash -- " + script}) {
			t.Errorf("%s: run were %q", c.name, ran)
		}
		result := n.result(aksPlace)
		if code, err := result.Code(); err != nil || code != c.result || !n.exists(aksPlace.complete) {
			t.Errorf("%s: the result's code is %d, %v, want %d", c.name, code, err, c.result)
		}
		if !strings.Contains(c.writes, "by the script") && !strings.Contains(result.Output, "said something") {
			t.Errorf("%s: the output is %q", c.name, result.Output)
		}
	}
}

// On a directory a script is recorded, and nothing runs.
func TestScriptInDirectory(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(script, []byte("#!/bin/bash\nexit 1\n"))
	got := n.Provision(t.Context(), ProvisionOptions{Script: script})
	if got.ExitCode != 0 || len(got.Changes) != 1 || got.Changes[0].ID != "Command:nbc-cmd" || got.Changes[0].Action != "ran" {
		t.Errorf("%v, %v", got.Error, got.Changes)
	}
	if want := `{"action":"command","label":"nbc-cmd","argv":["/bin/bash","--","` + script + `"]}` + "\n"; string(n.read("/run/slipway/actions.jsonl")) != want {
		t.Errorf("recorded is %s", n.read("/run/slipway/actions.jsonl"))
	}
	n.published(aksPlace, 0)
	// It runs at every provisioning, because its effects are unknown.
	if again := n.Provision(t.Context(), ProvisionOptions{Script: script}); len(again.Changes) != 1 {
		t.Errorf("%v", again.Changes)
	}
}

func TestScriptIsNoFile(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(n *node) error{
		"missing":     func(*node) error { return nil },
		"a directory": func(n *node) error { return os.MkdirAll(n.root+script, 0o755) },
		"a link":      func(n *node) error { n.deliver("/opt/azure/containers/x", nil); return os.Symlink("x", n.root+script) },
	} {
		n := newNode(t)
		if err := prepare(n); err != nil {
			t.Fatal(err)
		}
		got := n.Provision(t.Context(), ProvisionOptions{Script: script})
		if got.ExitCode != exitcode.AKSNodeController || !strings.Contains(got.Error.Message, script) || n.exists("/run/slipway/actions.jsonl") {
			t.Errorf("%s: %d, %v", name, got.ExitCode, got.Error)
		}
		n.published(aksPlace, exitcode.AKSNodeController)
	}
}

// If there is a contract too, the contract is applied. The script does not run, and a warning reports that.
func TestScriptAndContract(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(script, []byte("#!/bin/bash\n"))
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.host.run = func(context.Context, *resource.Command) ([]byte, error) {
		t.Error("the script is run")
		return nil, nil
	}
	got := n.Provision(t.Context(), ProvisionOptions{Script: script, Config: aksContract, Facts: ubuntu(t)})
	if got.ExitCode != 0 || got.Config.Dialect != "aks" || len(got.Changes) < 20 {
		t.Errorf("%+v", got)
	}
	n.published(aksPlace, 0)
	if !strings.Contains(n.log.String(), "not running the script") {
		t.Error("the log says nothing of the script")
	}
}
