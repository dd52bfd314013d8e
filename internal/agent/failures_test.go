package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/detector"
)

// The failed operation decides the exit code and the advice.
func TestExitCodes(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	check := func(cause resource.Cause) error {
		return &apply.CheckError{Cause: cause, Endpoint: "https://example.hcp.eastus.azmk8s.io:443", Err: errors.New("no such host")}
	}
	for _, c := range []struct {
		op, name string
		err      error
		code     int
		resource string
		cause    string
	}{
		{"Stage", "/etc/containerd/config.toml", syscall.ENOSPC, exitcode.AKSNodeController, "File:/etc/containerd/config.toml", ""},
		{"ModuleLoaded", "overlay", syscall.EIO, exitcode.ModuleLoadFailed, "Module:overlay", ""},
		{"SetSysctl", "net.ipv4.ip_forward", syscall.EROFS, exitcode.SysctlFailed, "Sysctl:net.ipv4.ip_forward", ""},
		{"StartUnit", "containerd.service", errors.New("result exit-code"), exitcode.UnitStartFailed, "Unit:containerd.service", ""},
		{"StartUnit", "kubelet.service", errors.New("result exit-code"), exitcode.KubeletStartFailed, "Unit:kubelet.service", ""},
		{"Probe", "image-built", check(resource.CauseMissing), exitcode.ImageNotBuilt, "Check:image-built", "missing"},
		{"Probe", "kubelet-binary", check(resource.CauseMissing), exitcode.KubeletInstallFailed, "Check:kubelet-binary", "missing"},
		{"Probe", "kubelet-active", check(resource.CauseUnit), exitcode.KubeletStartFailed, "Check:kubelet-active", "unit"},
		{"Probe", "api-server", check(resource.CauseDNS), exitcode.APIServerNameUnresolved, "Check:api-server", "dns"},
		{"Probe", "api-server", check(resource.CauseConnection), exitcode.APIServerUnreachable, "Check:api-server", "connection"},
		{"Probe", "api-server", check(resource.CauseTLS), exitcode.APIServerUnreachable, "Check:api-server", "tls"},
		{"Probe", "api-server", check(resource.CauseCredential), exitcode.APIServerUnreachable, "Check:api-server", "credential"},
	} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		n.host.before = func(op, name string) error {
			if op == c.op && name == c.name {
				return c.err
			}
			return nil
		}
		got := n.provision()
		if got.ExitCode != c.code || len(got.Errors) != 1 || got.Error.Resource != c.resource || got.Error.Cause != c.cause || got.Error.Action == "" || got.CodeName == "" {
			t.Errorf("%s %s: %d %s %+v", c.op, c.name, got.ExitCode, got.CodeName, got.Errors)
		}
		n.published(aksPlace, c.code)
		if text := n.result(aksPlace).Error; !strings.Contains(text, c.resource) {
			t.Errorf("%s %s: the result says %q", c.op, c.name, text)
		}
	}
}

// Failures of the agent, of a contract or of a script have separate numbers and advice. AKS's consumers see AKS's
// number with the same advice.
func TestOwnExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		code  int
		spoil func(n *node) ProvisionOptions
	}{
		{"no contract", exitcode.ContractNotFound, func(*node) ProvisionOptions { return ProvisionOptions{} }},
		{"one that is named", exitcode.ContractNotFound, func(*node) ProvisionOptions { return ProvisionOptions{Config: "/nowhere.yaml"} }},
		{"an invalid one", exitcode.ContractInvalid, func(n *node) ProvisionOptions {
			n.deliver(nativeContract, edited(n.T, "slipway.dev/v1", "slipway.dev/v9"))
			return ProvisionOptions{}
		}},
		{"a full disk", exitcode.AgentFailed, func(n *node) ProvisionOptions {
			n.deliver(nativeContract, example(n.T, "native/full.yaml"))
			n.host.before = func(op, _ string) error {
				if op == "Stage" {
					return syscall.ENOSPC
				}
				return nil
			}
			return ProvisionOptions{}
		}},
		{"a panic", exitcode.AgentFailed, func(n *node) ProvisionOptions {
			n.host.before = func(op, _ string) error {
				if op == "Lock" {
					panic("an unforeseen error")
				}
				return nil
			}
			n.deliver(nativeContract, example(n.T, "native/full.yaml"))
			return ProvisionOptions{}
		}},
		{"a script", exitcode.ScriptFailed, func(n *node) ProvisionOptions {
			n.deliver("/script.sh", []byte("exit 1"))
			n.host.before = failing("Run nbc-cmd")
			return ProvisionOptions{Script: "/script.sh"}
		}},
	} {
		for _, asAKS := range []bool{false, true} {
			n := newNode(t)
			n.Called = map[bool]string{true: aksName}[asAKS]
			opts := c.spoil(n)
			opts.Facts = ubuntu(t)
			got := n.Provision(t.Context(), opts)
			want := c.code
			if asAKS || opts.Script != "" {
				want = exitcode.AKSNodeController
			}
			known, _ := exitcode.Lookup(c.code)
			named, _ := exitcode.Lookup(want)
			if got.ExitCode != want || got.CodeName != named.Name || got.Error.Action != known.Action {
				t.Errorf("%s, as AKS %t: %d %s %+v", c.name, asAKS, got.ExitCode, got.CodeName, got.Error)
			}
			if opts.Script == "" {
				n.published(n.placeOf(got), want)
			}
		}
	}
}

// If a kubelet fails because its runtime hangs, the exit code is the runtime's, and both failures are reported.
func TestRuntimeThatHangs(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"StartUnit kubelet.service", "Probe kubelet-active"} {
		for hangs, code := range map[bool]int{true: exitcode.UnitStartFailed, false: exitcode.KubeletStartFailed} {
			n := newNode(t)
			n.deliver(nativeContract, example(t, "native/full.yaml"))
			n.host.before = func(op, name string) error {
				if op == "Probe" && name == "runtime-answers" && hangs {
					return &apply.CheckError{Cause: resource.CauseUnhealthy, Endpoint: "/run/containerd/containerd.sock", Err: context.DeadlineExceeded}
				}
				return failing(call)(op, name)
			}
			got := n.provision()
			known, _ := exitcode.Lookup(code)
			if got.ExitCode != code || got.Error.Action != known.Action || (len(got.Errors) == 2) != hangs {
				t.Errorf("%s, the runtime hangs: %t: %d, %+v", call, hangs, got.ExitCode, got.Errors)
			}
			if hangs && (!strings.Contains(got.Error.Message, "container runtime does not answer") || !strings.Contains(got.Errors[1].Resource, "kubelet")) {
				t.Errorf("%s: %+v", call, got.Errors)
			}
		}
	}
}

// A provisioning that takes too long ends with its exit code and names the operation that it was at.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ op, name string }{
		{"StartUnit", "containerd.service"}, {"StartUnit", "kubelet.service"}, {"Probe", "api-server"}, {"LoadModule", "overlay"},
	} {
		for _, sequential := range []bool{true, false} {
			t.Run(fmt.Sprint(c.op, c.name, sequential), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNode(t)
					n.Sequential = sequential
					n.deliver(aksContract, aksWith(t, "azure-cni.json", map[string]any{"cse_timeout": 60}))
					n.host.hang = func(ctx context.Context, op, name string) error {
						if op == c.op && name == c.name {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					}
					got := n.provision()
					if got.ExitCode != exitcode.Timeout || !strings.Contains(got.Error.Message, "timed out after 1m0s") {
						t.Errorf("%d, %+v", got.ExitCode, got.Error)
					}
					timeout, _ := exitcode.Lookup(exitcode.Timeout)
					if got.Error.Action != timeout.Action || len(got.Errors) < 2 || !strings.Contains(got.Errors[1].Resource, c.name) {
						t.Errorf("%+v", got.Errors)
					}
					n.published(aksPlace, exitcode.Timeout)
					if text := n.result(aksPlace).Error; !strings.Contains(text, "timed out") || !strings.Contains(text, c.name) {
						t.Errorf("the result says %q", text)
					}
				})
			})
		}
	}
}

// A run that is terminated while it waits for the API server reports the termination, and not a failure of the API
// server: systemd starts the service again then.
func TestCancelledWait(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, example(t, "aks/azure-cni.json"))
	ctx, cancel := context.WithCancelCause(t.Context())
	n.host.hang = func(ctx context.Context, op, check string) error {
		if op != "Probe" || check != "api-server" {
			return nil
		}
		cancel(fmt.Errorf("asked to end by a signal: %w", context.Canceled))
		<-ctx.Done()
		return &apply.CheckError{Cause: resource.CauseConnection, Endpoint: "https://api", Err: errors.New("connection refused")}
	}
	got := n.Provision(ctx, ProvisionOptions{Facts: ubuntu(t)})
	if got.ExitCode != exitcode.Interrupted || !strings.Contains(got.Error.Message, "asked to end by a signal") {
		t.Errorf("%d, %+v", got.ExitCode, got.Error)
	}
	if len(got.Errors) < 2 || got.Errors[1].Cause != string(resource.CauseConnection) {
		t.Errorf("what it waited for is not told: %+v", got.Errors)
	}
	n.published(aksPlace, exitcode.Interrupted)
}

// A terminated agent publishes its termination.
func TestCancelled(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, example(t, "aks/azure-cni.json"))
	n.host.boot = host.BootTimes{Kernel: time.Now()}
	ctx, cancel := context.WithCancel(t.Context())
	n.host.before = func(op, name string) error {
		if op == "StartUnit" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	got := n.Provision(ctx, ProvisionOptions{Facts: ubuntu(t)})
	if !strings.Contains(got.Error.Message, "canceled") {
		t.Errorf("%+v", got.Error)
	}
	n.published(aksPlace, got.ExitCode)
	if n.result(aksPlace).KernelStartTime == "" {
		t.Error("there is no time left to ask for times")
	}
}
