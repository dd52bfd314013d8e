package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

const imageScripts = "/opt/azure/containers/provision_start.sh"

// lackingContract has a setting that Slipway does not apply and that a node needs: without it the image credential
// provider does not know where to request a pod's token.
func lackingContract(t *testing.T) []byte {
	return aksWith(t, "minimal.json", map[string]any{
		"kubelet_config": map[string]any{"kubelet_flags": map[string]any{
			"--image-credential-provider-bin-dir": "/var/lib/kubelet/credential-provider",
			"--image-credential-provider-config":  "/var/lib/kubelet/credential-provider-config.yaml",
		}},
		"service_account_image_pull_profile": map[string]any{"enabled": true},
	})
}

// scripted is a node of an image with scripts. ran has the environments of their runs, and publish is their work.
func scripted(t *testing.T, publish func(n *node) error) (n *node, ran *[]map[string]string) {
	n, ran = newNode(t), new([]map[string]string)
	n.deliver(imageScripts, []byte("#!/bin/bash\n"))
	n.host.run = func(_ context.Context, command *resource.Command) ([]byte, error) {
		if command.Label != "image-scripts" {
			return nil, nil
		}
		if got := strings.Join(command.Argv[:2], " "); got != "/bin/bash -c" || !strings.HasSuffix(command.Argv[2], "'"+imageScripts+"'") || !command.Unconfined {
			t.Errorf("run is %q", command.Argv)
		}
		*ran = append(*ran, command.Env)
		return []byte("said something"), publish(n)
	}
	return n, ran
}

// publishes has the scripts publish a result.
func publishes(code int) func(n *node) error {
	return func(n *node) error {
		n.deliver(aksPlace.result.Path, fmt.Appendf(nil, `{"ExitCode": "%d", "Output": "by the scripts"}`, code))
		if code != 0 {
			return exec.Command("/bin/sh", "-c", fmt.Sprintf("exit %d", code)).Run()
		}
		return nil
	}
}

// TestMode: the mode and the contract decide which program makes the node, and the status records it.
func TestMode(t *testing.T) {
	t.Parallel()
	plain, lacking := example(t, "aks/minimal.json"), lackingContract(t)
	newer := aksWith(t, "minimal.json", map[string]any{"kubernetes_version": "1.36.99"})
	for _, c := range []struct {
		name     string
		mode     Mode
		contract []byte
		scripts  bool
		allow    []string
		chosen   string // of the status
		reason   string
		runs     int
		code     int
	}{
		{"no mode", "", plain, true, nil, "", "", 0, 0},
		{"native", Native, plain, true, nil, "", "", 0, 0},
		{"native, and something is missing", Native, lacking, true, nil, "", "", 0, exitcode.AKSNodeController},
		{"legacy", Legacy, plain, true, nil, "legacy", "asked for", 1, 0},
		{"legacy, with what Slipway does not apply", Legacy, lacking, true, nil, "legacy", "asked for", 1, 0},
		{"legacy without scripts", Legacy, plain, false, nil, "", "", 0, exitcode.ImageNotBuilt},
		{"auto", Auto, lacking, true, nil, "legacy", "Slipway does not apply $.service_account_image_pull_profile", 1, 0},
		{"auto without scripts", Auto, lacking, false, nil, "native", "the image does not have " + imageScripts, 0, exitcode.AKSNodeController},
		{"auto, and the image lacks the kubelet", Auto, newer, true, nil, "legacy", "the image lacks what makes a node without its scripts, for $.kubernetes_version", 1, 0},
		{"auto, and no source has the kubelet", Auto, newer, false, nil, "native", "Slipway applies every setting of the contract", 0, exitcode.KubeletInstallFailed},
		{"auto, and it is allowed", Auto, lacking, true, []string{"service_account_image_pull_profile"}, "native", "Slipway applies every setting of the contract", 0, 0},
		{"auto, and nothing is missing", Auto, plain, true, nil, "native", "Slipway applies every setting of the contract", 0, 0},
		{"auto with a bad contract", Auto, []byte(`{"version": "v1"}`), true, nil, "", "", 0, exitcode.AKSNodeController},
		{"legacy with a bad contract", Legacy, []byte(`{"version": "v1"}`), true, nil, "", "", 0, exitcode.AKSNodeController},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, ran := scripted(t, publishes(0))
			if !c.scripts {
				if err := os.Remove(n.root + imageScripts); err != nil {
					t.Fatal(err)
				}
			}
			n.deliver(aksContract, c.contract)
			got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: c.mode, AllowUnapplied: c.allow})
			mode := status.Mode{}
			if got.Mode != nil {
				mode = *got.Mode
			}
			if got.ExitCode != c.code || mode.Name != c.chosen || !strings.HasPrefix(mode.Reason, c.reason) || len(*ran) != c.runs {
				t.Fatalf("%d %v, mode %+v, ran %d times", got.ExitCode, got.Error, mode, len(*ran))
			}
			native := n.exists("/var/lib/kubelet/bootstrap-kubeconfig")
			if want := c.chosen != "legacy" && c.code == 0; native != want {
				t.Errorf("Slipway has made the node: %v", native)
			}
			if result := n.result(aksPlace); (result.Output == "by the scripts") != (c.runs > 0) || !n.exists(aksPlace.complete) {
				t.Errorf("published is %+v", result)
			}
			for _, p := range got.Problems {
				if c.runs > 0 && p.Kind == "NotApplied" {
					t.Errorf("the scripts apply %s", p.Path)
				}
			}
		})
	}
}

// The scripts get exactly the variables that the contract's view has.
func TestLegacyVariables(t *testing.T) {
	t.Parallel()
	n, ran := scripted(t, publishes(0))
	n.deliver(aksContract, lackingContract(t))
	n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
	want, problems := cse.Variables(compile.ReadOne("", lackingContract(t)), *ubuntu(t))
	if len(problems) > 0 || len(*ran) != 1 || !maps.Equal((*ran)[0], cse.Map(want)) {
		t.Errorf("%v, ran %d times", problems, len(*ran))
	}
}

// The scripts' result is the provisioning's result.
func TestLegacyResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		publish      func(n *node) error
		code, result int
		output       string
	}{
		{"well", publishes(0), 0, 0, "by the scripts"},
		{"fails with a specific code", publishes(50), 50, 50, "by the scripts"},
		{"fails and says nothing", func(*node) error { return exec.Command("/bin/sh", "-c", "exit 9").Run() }, 9, 9, "said something"},
		{"is killed", func(*node) error { return exec.Command("/bin/sh", "-c", "kill -9 $$").Run() }, exitcode.AKSNodeController, exitcode.AKSNodeController, "said something"},
		{"says nothing", func(*node) error { return nil }, 0, 0, "said something"},
		{"publishes garbage", func(n *node) error { n.deliver(aksPlace.result.Path, []byte(`{"ExitCode`)); return nil }, 0, 0, "said something"},
		{"cannot be started", func(*node) error { return errors.New("exec format error") }, exitcode.AKSNodeController, exitcode.AKSNodeController, "said something"},
	} {
		n, _ := scripted(t, c.publish)
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.deliver(aksPlace.result.Path, []byte(`{"ExitCode": "0", "Output": "of an earlier run"}`))
		n.deliver(aksPlace.complete, nil)
		got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
		result := n.result(aksPlace)
		if code, err := result.Code(); err != nil || got.ExitCode != c.code || code != c.result || !strings.Contains(result.Output, c.output) || !n.exists(aksPlace.complete) {
			t.Errorf("%s: %d %v, published %+v", c.name, got.ExitCode, got.Error, result)
		}
	}
}

// Scripts that hang are ended with the provisioning's timeout.
func TestLegacyHangs(t *testing.T) {
	t.Parallel()
	n, _ := scripted(t, func(*node) error { return context.DeadlineExceeded })
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	run := n.host.run
	n.host.run = func(ctx context.Context, command *resource.Command) ([]byte, error) {
		if deadline, ok := ctx.Deadline(); !ok || command.Timeout == 0 || time.Until(deadline) > command.Timeout.Std() {
			t.Errorf("the scripts have until %v, %v", deadline, command.Timeout)
		}
		return run(ctx, command)
	}
	got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
	if got.ExitCode == 0 || !n.exists(aksPlace.complete) {
		t.Errorf("%d %v", got.ExitCode, got.Error)
	}
	n.published(aksPlace, got.ExitCode)
}

// The scripts run once for a contract, and again for another contract or after a failure.
func TestLegacyRunsOnce(t *testing.T) {
	t.Parallel()
	code := 50
	n, ran := scripted(t, func(n *node) error { return publishes(code)(n) })
	n.deliver(aksContract, lackingContract(t))
	for i, c := range []struct {
		before func()
		mode   Mode
		want   int // runs in all
	}{
		{func() {}, Auto, 1},
		{func() { code = 0 }, Auto, 2},
		{func() {}, Auto, 2},
		{func() {}, Legacy, 2},
		{func() { n.deliver(aksContract, example(t, "aks/minimal.json")) }, Legacy, 3},
		{func() {}, Auto, 3}, // although Slipway could
	} {
		c.before()
		got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: c.mode})
		if len(*ran) != c.want || got.ExitCode != code || got.Mode == nil || got.Mode.Name != status.ModeLegacy {
			t.Errorf("%d: ran %d times, %d %v %+v", i, len(*ran), got.ExitCode, got.Error, got.Mode)
		}
	}
	// Slipway does not change a node that the scripts have made.
	changed := n.Change(t.Context(), ChangeOptions{Config: aksContract, Facts: ubuntu(t)})
	if !strings.Contains(changed.Refused, "scripts have made this node") {
		t.Errorf("%+v", changed)
	}
	// With mode native Slipway makes the node. From then on the scripts do not run on it.
	if got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t)}); got.ExitCode != 0 || got.Generation == 0 {
		t.Errorf("%d %v", got.ExitCode, got.Error)
	}
	got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
	if got.ExitCode != exitcode.Invalid || !strings.Contains(got.Error.Message, "slipway-node reset") || len(*ran) != 3 {
		t.Errorf("%d %v", got.ExitCode, got.Error)
	}
	n.deliver(aksContract, lackingContract(t))
	got = n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Auto})
	if got.ExitCode == 0 || got.Mode.Name != status.ModeNative || len(*ran) != 3 {
		t.Errorf("%d %v %+v", got.ExitCode, got.Error, got.Mode)
	}
	// After a reset they run again, with the same rules.
	if _, err := n.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got = n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
		if got.ExitCode != 0 || len(*ran) != 4 {
			t.Errorf("%d %v, ran %d times", got.ExitCode, got.Error, len(*ran))
		}
	}
}

// A dry run lists the variables' names that the scripts would get, and runs nothing.
func TestLegacyDryRun(t *testing.T) {
	t.Parallel()
	n, ran := scripted(t, publishes(0))
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	before := n.snapshot()
	got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy, DryRun: true})
	if got.ExitCode != 0 || len(*ran) != 0 || len(got.Changes) != 1 || got.Changes[0].ID != "Command:image-scripts" || !maps.Equal(before, n.snapshot()) {
		t.Errorf("%d %v, %+v, ran %d times", got.ExitCode, got.Error, got.Changes, len(*ran))
	}
}

// The variables hold secrets, which are not written to any file.
func TestLegacyKeepsSecrets(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(imageScripts, nil)
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	got := n.Provision(t.Context(), ProvisionOptions{Config: aksContract, Facts: ubuntu(t), Mode: Legacy})
	actions := string(n.read("/run/slipway/actions.jsonl"))
	if got.ExitCode != 0 || !strings.Contains(actions, `"TLS_BOOTSTRAP_TOKEN"`) {
		t.Errorf("%d %v, recorded is %s", got.ExitCode, got.Error, actions)
	}
	for path, content := range n.snapshot() {
		if path != aksContract && strings.Contains(content, "0123456789abcdef") {
			t.Errorf("%s has the token", path)
		}
	}
	if strings.Contains(n.log.String(), "0123456789abcdef") {
		t.Error("the log has the token")
	}
}
