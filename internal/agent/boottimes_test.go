package agent

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/status"
)

// A published result has the times that are known by then and does not change. A program that waits for the result also
// gets the times that become known later.
func TestBootTimes(t *testing.T) {
	t.Parallel()
	kernel := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	n := newNode(t)
	n.host.boot = host.BootTimes{Kernel: kernel}
	n.host.services = map[string]time.Time{"systemd-networkd.service": kernel.Add(2 * time.Second), "kubelet.service": kernel.Add(5 * time.Second)}
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.provision()
	published := n.result(aksPlace)
	for field, want := range map[*string]string{
		&published.KernelStartTime:                 "Fri 2026-01-02 03:04:00 UTC",
		&published.BootDatapoints.KernelStartTime:  "Fri 2026-01-02 03:04:00 UTC",
		&published.NetworkdStartTime:               "Fri 2026-01-02 03:04:02 UTC",
		&published.BootDatapoints.KubeletStartTime: "Fri 2026-01-02 03:04:05 UTC",
		&published.GuestAgentStartTime:             "",
		&published.CloudFinalStartTime:             "",
		&published.SystemdSummary:                  "",
	} {
		if *field != want {
			t.Errorf("got %q, want %q", *field, want)
		}
	}
	before := n.read(aksPlace.result.Path)

	n.host.boot = host.BootTimes{Kernel: kernel, UserspaceAfter: time.Second, FinishAfter: 9 * time.Second}
	n.host.services["walinuxagent.service"] = kernel.Add(20 * time.Second)
	n.host.services["kubelet.service"] = kernel.Add(time.Hour) // started again since
	document, code, err := n.Wait(t.Context())
	if code != 0 || err != nil {
		t.Fatal(code, err)
	}
	later, err := status.ParseCSE(document)
	if err != nil {
		t.Fatal(err)
	}
	want := published
	want.GuestAgentStartTime = "Fri 2026-01-02 03:04:20 UTC"
	want.BootDatapoints.GuestAgentStartTime = want.GuestAgentStartTime
	want.SystemdSummary = n.host.boot.Summary()
	if later != want || want.SystemdSummary == "" {
		t.Errorf("got  %+v\nwant %+v", later, want)
	}
	if !bytes.Equal(before, n.read(aksPlace.result.Path)) {
		t.Error("waiting has changed the published document")
	}
	// The next boot has no times of the first boot.
	n.host.boot = host.BootTimes{Kernel: kernel.Add(time.Hour), UserspaceAfter: time.Second, FinishAfter: 99 * time.Second}
	n.host.services["cloud-init.service"] = kernel.Add(61 * time.Minute)
	if document, code, err := n.Wait(t.Context()); code != 0 || err != nil || !bytes.Equal(document, before) {
		t.Errorf("%d, %v, got %s\nwant %s", code, err, document, before)
	}
}

// If the times cannot be read, they are empty, and the result is published all the same.
func TestBootTimesAreNotKnown(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.before = func(op, _ string) error {
		if op == "BootTimes" || op == "ServiceStart" {
			return syscall.ECONNREFUSED
		}
		return nil
	}
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.provision()
	n.published(aksPlace, 0)
	if document, code, err := n.Wait(t.Context()); code != 0 || err != nil || !bytes.Equal(document, n.read(aksPlace.result.Path)) {
		t.Errorf("%d, %v, %s", code, err, document)
	}
	if !strings.Contains(n.log.String(), "boot times are not known") {
		t.Error("the log does not say so")
	}
}

// If the user names a contract by its path, that is a path of the machine, even if the agent works on a directory. The
// documents are written to the directory.
func TestNamedContract(t *testing.T) {
	t.Parallel()
	here, n := newNode(t), newNode(t)
	here.deliver("/home/me/node.json", example(t, "aks/minimal.json"))
	here.deliver("/home/me/script.sh", []byte("true"))
	n.Named = here.host
	got := n.Provision(t.Context(), ProvisionOptions{Config: "/home/me/node.json", Facts: ubuntu(t)})
	if got.ExitCode != 0 || got.Config.Path != "/home/me/node.json" {
		t.Errorf("%v, %+v", got.Error, got.Config)
	}
	n.published(aksPlace, 0)
	if got := n.Provision(t.Context(), ProvisionOptions{Script: "/home/me/script.sh"}); got.ExitCode != 0 {
		t.Error(got.Error)
	}
	// Without a path, the agent looks for the contract in the directory.
	if got := n.provision(); got.ExitCode == 0 || !strings.Contains(got.Error.Message, "no contract was found") {
		t.Errorf("%d, %v", got.ExitCode, got.Error)
	}
}

// If unlocking fails, the end of the process releases the lock.
func TestUnlockFails(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.host.unlock = func() error { panic("broken unlock") }
	if got := n.provision(); got.ExitCode != 0 {
		t.Error(got.Error)
	}
	n.published(aksPlace, 0)
	if !strings.Contains(n.log.String(), "the lock cannot be given back") {
		t.Error("the log does not say so")
	}
}
